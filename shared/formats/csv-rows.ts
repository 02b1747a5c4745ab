import { isUtf8 } from 'node:buffer';

/** One row that is not empty. `line` is the line on which the row ends, counted from 1. */
export type CsvRow = { line: number; cells: string[] };

/** A fault of the whole file: nothing after it can be trusted. */
export class CsvFault extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
type Separator = keyof typeof cellForms;

/** In bytes. */
const longestRow = 64 * 1024;
/** A cell and the separator behind it. In a cell with quotes around it, a quote is doubled. */
const cellForms = { ',': cellForm(','), ';': cellForm(';'), '\t': cellForm('\t') };

function cellForm(separator: string): RegExp {
  return new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"${separator}]*))${separator}`, 'gy');
}

/**
 * Yields the rows of a CSV file (RFC 4180), the header first. Accepts the forms that spreadsheets write: UTF-8 with
 * or without a byte order mark, any line end, and the separator that the header shows, unless one is given. Leaves out
 * empty rows, and holds one piece of the file and one row at a time.
 */
export async function* readCsv(bytes: Bytes, given: Separator | null = null): AsyncGenerator<CsvRow> {
  let separator = given;
  let line = 0;
  let row = { text: '', bytes: 0, isQuoteOpen: false };
  for await (const lines of linesOf(bytes))
    for (const written of lines) {
      line += 1;
      const isAscii = !/[\0\u0080-\u00ff]/.test(written);
      const text = isAscii ? written : decoded(written, line);
      if (row.text === '' && text.trim() === '') continue;
      row.text += text;
      row.bytes += written.length;
      if (text.includes('"') && text.split('"').length % 2 === 0) row.isQuoteOpen = !row.isQuoteOpen;
      if (row.isQuoteOpen && row.bytes <= longestRow) continue;
      separator ??= separatorOf(row.text);
      const cells = cellsOf(row, separator ?? ',', line);
      if (separator !== null && cells.some((cell) => cell.trim() !== '')) yield { line, cells };
      row = { text: '', bytes: 0, isQuoteOpen: false };
    }
  // The quote is still open, so this throws.
  if (row.isQuoteOpen) cellsOf(row, separator ?? ',', line);
}

/**
 * Yields the lines with their ends, as many as each piece of the file completes. A character stands for one byte,
 * because a piece may end within a character of UTF-8. A line that is too long for a row is cut.
 */
async function* linesOf(bytes: Bytes): AsyncGenerator<string[]> {
  let rest = '';
  for await (const piece of bytes) {
    const lines = (rest + Buffer.from(piece).toString('latin1')).split(/(?<=\n|\r(?!\n))/);
    // The next piece may go on with the last line, or with the LF of its CRLF.
    rest = lines.at(-1)!.length > longestRow ? '' : lines.pop()!;
    yield lines;
  }
  if (rest !== '') yield [rest];
}

function decoded(written: string, line: number): string {
  // The row of this line is refused, and the line may end within a character.
  if (written.length > longestRow) return written;
  const bytes = Buffer.from(written, 'latin1');
  if (!isUtf8(bytes)) throw new CsvFault(line, 'is not UTF-8; save it as CSV UTF-8');
  if (written.includes('\0')) throw new CsvFault(line, 'has a NUL character, which is not allowed');
  const text = bytes.toString();
  return line === 1 ? text.replace(/^\ufeff/, '') : text;
}

/** Returns the separator that occurs most in a header, outside of quotes; null if the row is empty. */
function separatorOf(header: string): Separator | null {
  if (/^[\s,;"]*$/.test(header)) return null;
  const plain = header.replaceAll(/"[^"]*"?/g, '');
  const countOf = (separator: Separator) => plain.split(separator).length;
  return (Object.keys(cellForms) as Separator[]).reduce((most, other) =>
    countOf(other) > countOf(most) ? other : most,
  );
}

type WholeRow = { text: string; bytes: number };

/** Returns the cells of a row that ends on this line. */
function cellsOf({ text, bytes }: WholeRow, separator: Separator, line: number): string[] {
  const row = text.replace(/(?:\r\n|\n|\r)$/, '');
  const isTooLong = bytes > longestRow;
  if (!isTooLong && !row.includes('"')) return row.split(separator);
  const whole = row + separator;
  const found = [...whole.matchAll(cellForms[separator])];
  const read = found.reduce((length, [cell]) => length + cell.length, 0);
  if (read < whole.length || isTooLong) throw faultOf(whole, read, isTooLong, line);
  return found.map(([, quoted, plain]) => (quoted === undefined ? plain! : quoted.replaceAll('""', '"')));
}

/** `read`: where the first cell that cannot be read begins; the length of the row if there is none. */
function faultOf(row: string, read: number, isTooLong: boolean, lastLine: number): CsvFault {
  const lineAt = (place: number) => lastLine - (row.slice(place).match(/\r\n|\n|\r/g)?.length ?? 0);
  const rest = row.slice(read);
  const opened = /^"[^"]*(?:""[^"]*)*/.exec(rest)?.[0];
  if (rest !== '' && rest !== opened)
    return new CsvFault(
      lineAt(read + (opened?.length ?? rest.indexOf('"'))),
      'is not CSV: quotes must enclose the whole cell, and a quote inside a cell must be doubled',
    );
  return new CsvFault(
    lineAt(rest === '' ? 0 : read),
    isTooLong
      ? `has a row of more than ${longestRow / 1024} KiB, or a quote that never closes`
      : 'has a quote that never closes',
  );
}
