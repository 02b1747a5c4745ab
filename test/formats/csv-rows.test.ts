import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CsvFault, readCsv } from '../../shared/formats/csv-rows.ts';
import { keptMemory } from '../support/processes/kept-memory.ts';

async function* inPieces(bytes: Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}
async function rowsOf(text: string | Uint8Array, size?: number): Promise<string[][]> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const rows = [];
  for await (const { cells } of readCsv(inPieces(bytes, size))) rows.push(cells);
  return rows;
}
const faultOf = async (text: string | Uint8Array, size?: number) => {
  const fault: CsvFault = await rowsOf(text, size).then(
    () => {
      throw new Error('it was read');
    },
    (error) => error,
  );
  return [fault.line, fault.message];
};

test.each<[string, string, string[][]]>([
  [
    'commas',
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'semicolons, as where the comma is in numbers',
    'a;b\n1,5;2\n',
    [
      ['a', 'b'],
      ['1,5', '2'],
    ],
  ],
  [
    'tabs',
    'a\tb\n1, 2;\t3\n',
    [
      ['a', 'b'],
      ['1, 2;', '3'],
    ],
  ],
  ['one column', 'a\n1\n2', [['a'], ['1'], ['2']]],
  [
    'a byte order mark',
    '\ufeffa,b\n1,2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'CRLF',
    'a,b\r\n1,2\r\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'CR alone',
    'a,b\r1,2\r3,4',
    [
      ['a', 'b'],
      ['1', '2'],
      ['3', '4'],
    ],
  ],
  ['ends of lines of all kinds', 'a\r1\n2\r\n3', [['a'], ['1'], ['2'], ['3']]],
  [
    'a cell over lines',
    'a,b\n"1\r\n2",3',
    [
      ['a', 'b'],
      ['1\r\n2', '3'],
    ],
  ],
  [
    'quotes in quotes',
    'a,b\n"say ""hi""",2',
    [
      ['a', 'b'],
      ['say "hi"', '2'],
    ],
  ],
  [
    'a separator in a quoted header',
    '"a,b,c";d\n1;2',
    [
      ['a,b,c', 'd'],
      ['1', '2'],
    ],
  ],
  [
    'empty rows',
    '\n\na,b\n\n1,2\n,\n  \n3,4\n\n',
    [
      ['a', 'b'],
      ['1', '2'],
      ['3', '4'],
    ],
  ],
  [
    'rows of separators before the header',
    ',,\n;;\na;b\n1;2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  ['rows that are longer or shorter', 'a,b\n1\n1,2,3', [['a', 'b'], ['1'], ['1', '2', '3']]],
  [
    'a header twice',
    'a,b\n1,2\na,b\n3,4',
    [
      ['a', 'b'],
      ['1', '2'],
      ['a', 'b'],
      ['3', '4'],
    ],
  ],
  ['nothing', '', []],
])('%s', async (_name, text, rows) => {
  for (const size of [1, 2, 7, 1_000]) expect(await rowsOf(text, size)).toEqual(rows);
});

test.each(['\n', '\r\n', '\r'])(
  'a row is told with its line, also behind cells over several lines (%j)',
  async (end) => {
    const text = 'a,b|"1|2",3||4,5|"|||","x"|6,7'.replaceAll('|', end);
    for (const size of [1, 2, 3, 7, 1_000]) {
      const lines = [];
      for await (const { line } of readCsv(inPieces(Buffer.from(text), size))) lines.push(line);
      expect(lines).toEqual([1, 3, 5, 9, 10]);
    }
  },
);

test.each<[string, string | Uint8Array, unknown[]]>([
  ['a quote that never closes', 'a,b\n1,2\n"3,4\n5,6\n7,8\n', [3, 'has a quote that never closes']],
  [
    'a quote that never closes, behind others',
    '\n\na,b\r\n"1\r\n2","3"\r\n,\r\n"4 ""5""\r","6\r\n7\r\n',
    [8, 'has a quote that never closes'],
  ],
  ['a quote that never closes in a header', 'a,"b\n1,2\n3,4\n', [1, 'has a quote that never closes']],
  ['a quote inside a cell', 'a,b\n1,2" x\n', [2, expect.stringMatching(/^is not CSV/)]],
  ['a text behind a quote', 'a,b\r\n"1\r\n2",3\r\n"4\r\n"5,6\r\n', [5, expect.stringMatching(/^is not CSV/)]],
  ['UTF-16', Buffer.from('\ufeffa,b\n1,2', 'utf16le'), [1, expect.stringMatching(/^is not UTF-8/)]],
  ['Latin 1', Buffer.from('a,b\nGrüße,2', 'latin1'), [2, expect.stringMatching(/^is not UTF-8/)]],
  [
    'UTF-8 that breaks off',
    Buffer.from('a,b\n1,é').subarray(0, -1),
    [2, expect.stringMatching(/^is not UTF-8/)],
  ],
  [
    'Latin 1 behind a character that stands for one that could not be read',
    Buffer.concat([Buffer.from('a,b\r1,\ufffd\r2,€\r'), Buffer.from('3,é', 'latin1')]),
    [4, expect.stringMatching(/^is not UTF-8/)],
  ],
  [
    'half a character before the end of a line',
    Buffer.concat([Buffer.from('a,b\n1,😀\n2,😀').subarray(0, -1), Buffer.from('\n3,4\n')]),
    [3, expect.stringMatching(/^is not UTF-8/)],
  ],
  ['a NUL', 'a,b\n1,2\n3,\0', [3, 'has a NUL character, which is not allowed']],
  ['a NUL where lines end in CR', 'a,b\r1,2\r\r3,\0', [4, 'has a NUL character, which is not allowed']],
  [
    'a NUL where lines end in CRLF',
    'a,b\r\n1,"2\r\n3"\r\n4,\0',
    [4, 'has a NUL character, which is not allowed'],
  ],
  [
    'a row of more than 64 KiB',
    `a,b\n1,2\n\n3,${'x'.repeat(70_000)}\n4,5\n`,
    [4, expect.stringMatching(/64 KiB/)],
  ],
  [
    'a quote that closes nowhere in 64 KiB',
    `a,b\n1,2\n"3\n",4\n5,"${'6\n'.repeat(40_000)}`,
    [5, expect.stringMatching(/64 KiB/)],
  ],
])('%s is told with its line, in any pieces', async (_name, text, fault) => {
  for (const size of text.length > 1_000 ? [1_000] : [1, 2, 3, 7, 1_000])
    expect(await faultOf(text, size)).toEqual(fault);
});

/** Reads a text in memory in the simplest possible way, for comparison. */
function model(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at <= text.length; ) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        if (text[at] === '"') at += 1;
        cell += text[at];
      }
      at += 1;
    } else for (; at < text.length && ![separator, '\r', '\n'].includes(text[at]!); at += 1) cell += text[at];
    row.push(cell);
    if (text[at] === separator) at += 1;
    else {
      at += text.startsWith('\r\n', at) ? 2 : 1;
      if (row.some((one) => one.trim() !== '')) rows.push(row);
      row = [];
    }
  }
  return rows;
}

test('whatever the cells, what was written is what is read, in any pieces, as the model reads it', async () => {
  const cell = fc.oneof(
    fc.stringMatching(/^[a-z0-9 ]{0,6}$/),
    fc
      .array(fc.constantFrom('"', ',', ';', '\t', '\n', '\r\n', '\r', 'é', '😀', 'x', ' ', '\ufeff'), {
        maxLength: 6,
      })
      .map((all) => all.join('')),
  );
  const written = (text: string, separator: string, quotes: boolean) =>
    quotes || [separator, '"', '\n', '\r', '\ufeff'].some((one) => text.includes(one))
      ? `"${text.replaceAll('"', '""')}"`
      : text;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 6 }),
      fc.constantFrom(',', ';', '\t'),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 1, max: 20 }),
      async (rows, separator, end, quotes, hasMark, size) => {
        const all = [['name', 'number', 'more'], ...rows];
        const text = all
          .map((row) => row.map((one) => written(one, separator, quotes)).join(separator))
          .join(end);
        const read = await rowsOf((hasMark ? '\ufeff' : '') + text, size);
        expect(read).toEqual(model(text, separator));
        expect(read).toEqual(all.filter((row) => row.some((one) => one.trim() !== '')));
      },
    ),
    { numRuns: 1_000 },
  );
});

test('whatever the bytes, they are read or refused with a line', async () => {
  const piece = fc.constantFrom('"', ',', '\n', '\r', 'a', ';', '""', '\0', 'é');
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ maxLength: 60 }),
        fc.array(piece).map((all) => Buffer.from(all.join(''))),
      ),
      async (bytes) => {
        try {
          await rowsOf(bytes, 5);
        } catch (error) {
          expect((error as CsvFault).line).toBeGreaterThan(0);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test('a file of 100,000 rows is read within little memory, and reading may stop at any row', async () => {
  // Rows so wide that the whole file is three times as large as the memory that is allowed.
  const block = Buffer.from(`+447400123456,${'Ada '.repeat(25)}\n`.repeat(1_000));
  async function* file() {
    yield Buffer.from('number,name\n');
    for (let index = 0; index < 100; index += 1) yield block;
  }
  let rows = 0;
  let most = 0;
  // Other test files of this process may have left buffers behind.
  const before = keptMemory().arrayBuffers;
  for await (const row of readCsv(file())) {
    rows += row.cells.length === 2 ? 1 : 0;
    if (rows % 25_000 === 0) most = Math.max(most, keptMemory().arrayBuffers);
  }
  expect(rows).toBe(100_001);
  expect(most - before).toBeLessThan(4 * 1024 * 1024);
  for await (const { cells } of readCsv(file())) {
    expect(cells).toEqual(['number', 'name']);
    break;
  }
});
