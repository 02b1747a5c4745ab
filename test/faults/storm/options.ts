import { parseArgs } from 'node:util';
import * as session from '../../../scripts/setup/start/session.ts';

/** scripts/test says what they mean, apart from `profile`, which is its first argument. */
export const options = {
  profile: { type: 'string', default: 'faults' },
  minutes: { type: 'string', default: '30' },
  seed: { type: 'string' },
  'per-second': { type: 'string', default: '20' },
  size: { type: 'string', default: 'whole' },
  json: { type: 'string' },
} as const;

export type Options = ReturnType<typeof optionsOf>;

/** The choices of whoever asks for a long run. */
export function optionsOf(args: string[]) {
  try {
    const { values } = parseArgs({ args, options });
    const { profile, size, json } = values;
    const [minutes, perSecond] = [Number(values.minutes), Number(values['per-second'])];
    const seed = Number(values.seed ?? Date.now() % 1_000_000);
    if (!(minutes > 0) || !Number.isInteger(seed) || !(perSecond > 0))
      throw new Error('--minutes, --seed and --per-second must be positive numbers');
    if (profile !== 'faults' && profile !== 'soak') throw new Error('--profile is faults or soak');
    if (size !== 'whole' && size !== 'small') throw new Error('--size is whole or small');
    return { profile, size, minutes, seed, perSecond, json } as const;
  } catch (error) {
    throw new session.Unfit(`${(error as Error).message}\nType scripts/test --help for what there is.`);
  }
}
