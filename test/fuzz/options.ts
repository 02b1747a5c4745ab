import { parseArgs } from 'node:util';
import * as session from '../../scripts/setup/start/session.ts';

/** `scripts/test --help` explains the options. */
export const options = {
  minutes: { type: 'string' },
  seed: { type: 'string' },
  inputs: { type: 'string' },
  target: { type: 'string' },
} as const;

export type Options = ReturnType<typeof optionsOf>;

/** Reads the options of a fuzz run. */
export function optionsOf(args: string[]) {
  try {
    const { values } = parseArgs({ args, options });
    const minutes = Number(values.minutes ?? (values.inputs === undefined ? 20 : 600));
    const inputs = Number(values.inputs ?? Number.MAX_SAFE_INTEGER);
    const seed = Number(values.seed ?? Date.now() % 1_000_000);
    if (!(minutes > 0) || !Number.isInteger(seed) || !(inputs > 0))
      throw new Error('--minutes, --seed and --inputs must be positive numbers');
    return { minutes, inputs, seed, target: values.target };
  } catch (error) {
    throw new session.Unfit(`${(error as Error).message}\nType scripts/test --help for what there is.`);
  }
}

/** Returns the command that makes the same inputs again. */
export function repetition({ minutes, inputs, seed, target }: Options): string {
  const length = inputs < Number.MAX_SAFE_INTEGER ? `--inputs ${inputs}` : `--minutes ${minutes}`;
  return `scripts/test fuzz ${length} --seed ${seed}${target === undefined ? '' : ` --target ${target}`}`;
}
