import { parseArgs } from 'node:util';
import * as session from '../../../scripts/setup/start/session.ts';
import { type FormName, forms } from '../cluster/forms.ts';

/** `scripts/test --help` explains the options; `profile` is the first argument of scripts/test. */
export const options = {
  profile: { type: 'string', default: 'faults' },
  minutes: { type: 'string', default: '30' },
  seed: { type: 'string' },
  'per-second': { type: 'string' },
  form: { type: 'string', default: 'galera-sentinel' },
  size: { type: 'string', default: 'whole' },
  json: { type: 'string' },
} as const;

export type Options = ReturnType<typeof optionsOf>;

/** Reads the options of a long run. */
export function optionsOf(args: string[]) {
  try {
    const { values } = parseArgs({ args, options });
    const { profile, size, form, json } = values;
    const minutes = Number(values.minutes);
    const perSecond = Number(values['per-second'] ?? (profile === 'cluster' ? 8 : 20));
    const seed = Number(values.seed ?? Date.now() % 1_000_000);
    if (!(minutes > 0) || !Number.isInteger(seed) || !(perSecond > 0))
      throw new Error('--minutes, --seed and --per-second must be positive numbers');
    if (profile !== 'faults' && profile !== 'soak' && profile !== 'cluster')
      throw new Error('--profile is faults, soak or cluster');
    if (!isForm(form)) throw new Error(`--form is one of ${forms.join(', ')}`);
    if (size !== 'whole' && size !== 'small') throw new Error('--size is whole or small');
    return { profile, size, form, minutes, seed, perSecond, json } as const;
  } catch (error) {
    throw new session.Unfit(`${(error as Error).message}\nType scripts/test --help for what there is.`);
  }
}

const isForm = (name: string): name is FormName => (forms as readonly string[]).includes(name);
