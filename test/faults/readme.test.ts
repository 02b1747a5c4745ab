import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');

type Shown = { file: string; name: string };
type RowOfTable = { id: string; expected: string; shown: Shown[] };

const rows: RowOfTable[] = [...page.matchAll(/^\| ([AF]\d+) +\|(.*)\|$/gm)].map(([, id, rest]) => {
  const cells = rest!.split(/ +\| /).map((cell) => cell.trim());
  const shownBy = cells.at(-1)!;
  const shown = shownBy.split('<br>').flatMap((entry) => {
    const [, file, name] = /^`(test\/[^`]+)`: (.+)$/.exec(entry) ?? [];
    return file && name ? [{ file, name }] : [];
  });
  return { id: id!, expected: cells.at(-2)!, shown };
});

const ids = (letter: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);

test('each case and each fault has one row, in order', () => {
  expect(rows.map(({ id }) => id)).toEqual([...ids('A', 56), ...ids('F', 38)]);
});

test('each case says what is expected, and which test shows it', () => {
  const bare = rows.filter(({ expected, shown }) => expected === '' || shown.length === 0);
  expect(bare.map(({ id }) => id)).toEqual([]);
});

test('each test that is named is in the file that is named', () => {
  const entries = [...page.matchAll(/`test\/[^`]+\.test\.ts`: /g)];
  expect(rows.flatMap(({ shown }) => shown)).toHaveLength(entries.length);
  const texts = new Map<string, string>();
  const textOf = (file: string) => {
    const text =
      texts.get(file) ?? (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');
    texts.set(file, text);
    return text;
  };
  // As a text of its own, not as part of another.
  const isIn = ({ file, name }: Shown) =>
    [`'${name}'`, `"${name}"`, `\`${name}\``].some((text) => textOf(file).includes(text));
  const untrue = rows.flatMap(({ id, shown }) =>
    shown.filter((one) => !isIn(one)).map(({ file, name }) => `${id}: ${file}: ${name}`),
  );
  expect(untrue).toEqual([]);
});
