import { parseArgs } from 'node:util';
import * as session from '../setup/session.ts';
import { lines } from './lines/index.ts';

/** scripts/bench says what they mean. */
export const options = {
  pairs: { type: 'string', default: '5' },
  json: { type: 'string' },
  'allow-noise': { type: 'boolean', default: false },
  scale: { type: 'string', default: '1' },
  profile: { type: 'boolean', default: false },
  statements: { type: 'boolean', default: false },
} as const;

/** What a run of scripts/bench is asked for, with the lines that are meant. */
export function optionsOf(args: string[]) {
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
    const [pairs, scale] = [Number(values.pairs), Number(values.scale)];
    if (!Number.isInteger(pairs) || pairs < 1 || !(scale > 0))
      throw new Error('--pairs and --scale must be positive');
    // `email` means all lines about it: email-out, email-isolation.
    const isMeant = (wanted: string, name: string) => name === wanted || name.startsWith(`${wanted}-`);
    const unknown = positionals.find((wanted) => !lines.some(({ name }) => isMeant(wanted, name)));
    if (unknown) throw new Error(`There is no line "${unknown}"`);
    const chosen = lines.filter(
      ({ name }) =>
        positionals.length === 0 ||
        positionals.includes(name) ||
        positionals.some((wanted) => !lines.some((line) => line.name === wanted) && isMeant(wanted, name)),
    );
    return { ...values, pairs, scale, chosen };
  } catch (error) {
    throw new session.Unfit(`${(error as Error).message}\nType scripts/bench --help for what there is.`);
  }
}
