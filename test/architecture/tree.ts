import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { File } from './rule.ts';

export const root = join(import.meta.dirname, '..', '..');
const folders = ['api', 'workers', 'shared', 'scripts', 'test'];
const text = /(^|\/)[^/.]+$|\.(ts|js|mjs|cjs|sh|html|css|md|sql)$/;

/** The Procfile, and every text file of the five folders. */
export function readTree(top = root): File[] {
  const paths = folders
    .flatMap((folder) => readdirSync(join(top, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return [join(top, 'Procfile'), ...paths]
    .map((path) => ({ absolute: path, path: relative(top, path).split(sep).join('/') }))
    .filter(({ path }) => text.test(path) && !path.includes('/node_modules/'))
    .map(({ absolute, path }) => ({ path, source: readFileSync(absolute, 'utf8') }));
}

export function topLevel(top = root): string[] {
  return readdirSync(top);
}
