import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';

/** Answers as a platform gave them, by the name of their shape; ids, times and secrets are others. */
const answers: Readonly<Record<string, object>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'answers.json'), 'utf8'),
);

/** A whole answer of this shape, for readers of the description. */
export function exampleAnswer(shape: z.ZodType): object | undefined {
  const id = shape.meta()?.id;
  return id === undefined ? undefined : answers[id];
}
