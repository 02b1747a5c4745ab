import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const folder = path.join(import.meta.dirname, 'corpus');

/** Inputs that once did harm, by target. A fuzz run writes what it finds as such files. */
export const targetsOfFinds = readdirSync(folder);

/** The files of a target's inputs. In inputs of `http` and `smtp`, names in braces stand for what only a run knows. */
export function findsOf(target: string): string[] {
  const own = path.join(folder, target);
  if (!existsSync(own)) return [];
  return readdirSync(own).map((file) => path.join(own, file));
}
