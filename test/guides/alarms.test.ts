import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from './run-program.ts';

test('every line of the log that the guide about alarms explains is one that the code writes', () => {
  const guide = readFileSync(join(folder, 'alarms.md'), 'utf8');
  const rows = guide.slice(guide.indexOf('## Lines in the log')).matchAll(/^\| (`.+?) \|/gm);
  const lines = [...rows].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, line]) => line!),
  );
  expect(lines.length).toBeGreaterThan(20);
  const root = join(import.meta.dirname, '../..');
  const sources = globSync('{api,shared,workers}/**/*.ts', { cwd: root }).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  );
  // The beginning of the text, which a search of the log goes by; the dots stand for what differs from time to time.
  const isWritten = (line: string) =>
    sources.some((source) =>
      ["'", '`'].some((quote) => source.includes(`${quote}${line.split('…')[0]!.trimEnd()}`)),
    );
  expect(lines.filter((line) => !isWritten(line))).toEqual([]);
});
