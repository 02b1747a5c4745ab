import fs from 'node:fs';
import path from 'node:path';
import { declarationsOf } from './declared.ts';

/** A row and the test that shows it: the name is as it stands in the file. */
export type Shown = { row: string; file: string; name: string };
export type Tags = { shown: Shown[]; complaints: string[] };

const root = path.join(import.meta.dirname, '../../..');
const tag = /^\s*\/\/ Shows ((?:[AF]\d+)(?:, [AF]\d+)*)$/;
// Matches tags in a wrong form too, so that they are refused and not ignored in silence.
const almost = /(^|\s)\/[/*]+\s*shows?:?\s+[AF]\d/i;

/** Reads the tags of every file in test/. */
export function readTags(): Tags {
  const names = fs.globSync('test/**/*.ts', { cwd: root }).map((name) => name.split(path.sep).join('/'));
  const found = names.toSorted().map((file) => tagsOf(file, fs.readFileSync(path.join(root, file), 'utf8')));
  return {
    shown: found.flatMap(({ shown }) => shown),
    complaints: found.flatMap(({ complaints }) => complaints),
  };
}

/** Finds each `// Shows A1, F2` of a file, with the declaration below it: a test, a group or a row of a table. */
export function tagsOf(file: string, source: string): Tags {
  const tags: Tags = { shown: [], complaints: [] };
  if (!almost.test(source)) return tags;
  const lines = source.split('\n');
  const declarations = file.endsWith('.test.ts') ? declarationsOf(source) : new Map<number, string>();
  for (const [index, line] of lines.entries()) {
    if (!almost.test(line)) continue;
    const complain = (text: string) => tags.complaints.push(`${file}:${index + 1}: ${text}`);
    const rows = tag.exec(line)?.[1]?.split(', ');
    const name = declarations.get(lineBelow(lines, index));
    if (!rows) complain(`${line.trim()} is not written as "// Shows A1, F2"`);
    else if (name === undefined)
      complain(`${line.trim()} stands above no test, nor above a row of its table`);
    else for (const row of rows) tags.shown.push({ row, file, name });
  }
  return tags;
}

/** Returns the number of the next line that is not a comment. */
function lineBelow(lines: readonly string[], index: number): number {
  const below = lines.findIndex((line, each) => each > index && !/^\s*\/\//.test(line));
  return below + 1;
}
