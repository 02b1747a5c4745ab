import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A setting of several values, separated by commas. */
export const list = z
  .string()
  .default('')
  .transform((text) => text.split(',').map((part) => part.trim()))
  .transform((parts) => parts.filter(Boolean));

/** Whether the file is there and can be read. */
export function isReadableFile(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}

type Allowed = { min: number; max?: number };

/** A setting that is a number, and its default. */
export const number = (usual: number, allowed: Allowed) => within(z.coerce.number(), allowed).default(usual);

/** A setting that is a whole number, and its default. */
export const integer = (usual: number, allowed: Allowed) =>
  within(z.coerce.number().int(), allowed).default(usual);

function within(schema: z.ZodCoercedNumber, { min, max }: Allowed): z.ZodCoercedNumber {
  const floored = schema.min(min);
  return max === undefined ? floored : floored.max(max);
}
