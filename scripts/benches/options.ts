import { parseArgs } from 'node:util';
import * as session from '../setup/start/session.ts';
import type { Line } from './line.ts';
import { lines } from './lines/index.ts';

/** The help of scripts/bench explains these options. */
export const options = {
  pairs: { type: 'string' },
  json: { type: 'string' },
  'allow-noise': { type: 'boolean', default: false },
  scale: { type: 'string', default: '1' },
  least: { type: 'string' },
  profile: { type: 'boolean', default: false },
  statements: { type: 'boolean', default: false },
} as const;

const onlyWithoutCommit = ['allow-noise', 'profile', 'statements'] as const;

/** The options of a run of scripts/bench, and its lines. `commit` is the one to compare with, if any. */
export function optionsOf(args: string[]) {
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
    const isComparing = positionals[0] === 'compare';
    const [commit, named] = isComparing ? [positionals[1], positionals.slice(2)] : [undefined, positionals];
    if (isComparing && commit === undefined) throw new Error('compare needs a commit');
    if (!isComparing && values.least !== undefined) throw new Error('--least belongs to compare');
    const useless = onlyWithoutCommit.find((name) => isComparing && values[name]);
    if (useless) throw new Error(`--${useless} does not belong to compare`);
    const pairs = Number(values.pairs ?? (isComparing ? 10 : 5));
    const [scale, least] = [Number(values.scale), Number(values.least ?? 0.95)];
    if (!Number.isInteger(pairs) || pairs < 1 || !(scale > 0) || !(least > 0))
      throw new Error('--pairs, --scale and --least must be positive');
    return { ...values, pairs, scale, least, commit, chosen: chosenOf(named) };
  } catch (error) {
    throw new session.Unfit(`${(error as Error).message}\nType scripts/bench --help for what there is.`);
  }
}

function chosenOf(named: string[]): Line[] {
  // `email` means all lines about it: email-out, email-isolation.
  const isMeant = (wanted: string, name: string) => name === wanted || name.startsWith(`${wanted}-`);
  const unknown = named.find((wanted) => !lines.some(({ name }) => isMeant(wanted, name)));
  if (unknown) throw new Error(`There is no line "${unknown}"`);
  return lines.filter(
    ({ name }) =>
      named.length === 0 ||
      named.includes(name) ||
      named.some((wanted) => !lines.some((line) => line.name === wanted) && isMeant(wanted, name)),
  );
}
