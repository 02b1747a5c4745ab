import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse';

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

const longestRow = 64 * 1024;
/** Bytes for one write to the parser, which parses all of it in one go; a row may have only two bytes. */
const parsedAtOnce = 4 * 1024;
const rowEnds = ['\r\n', '\n', '\r'];
const separators = [',', ';', '\t'];

/**
 * Yields the rows of a CSV file (RFC 4180), the header first. Accepts the forms that spreadsheets write: UTF-8 with
 * or without a byte order mark, the separator that the header shows, and any line end. Leaves out empty rows, and
 * holds one row at a time.
 */
export async function* readCsv(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow> {
  const texts = decoded(inLargerPieces(bytes));
  const { head, separator } = await headOf(texts);
  const parser: Parser = parse({
    delimiter: separator,
    record_delimiter: rowEnds,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: longestRow,
    info: true,
    // The parser expects each row to be as long as its first one. For another length it makes an error with a copy of
    // the row, which is most of the work in a file of blank rows. With the count at 0, each row is its first one.
    on_record: (row) => {
      (parser.info as { records: number }).records = 0;
      return row;
    },
  });
  const lines = lineFinder();
  // A reader that stops also stops the parser, and with it the feed.
  const feeding = feed(parser, lines, head, texts);
  feeding.catch((error: Error) => parser.destroy(error));
  try {
    let isHeader = true;
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      const line = lines.endOfRow(info.bytes);
      // The parser does not see that this row is empty, because its separators are not those of the header.
      if (isHeader && record.every(isOnlySeparators)) continue;
      isHeader = false;
      yield { line, cells: record };
    }
    await feeding;
  } catch (error) {
    throw error instanceof CsvError ? faultOf(error, lines, separator) : error;
  } finally {
    parser.destroy();
  }
}

/** `bytes`: the bytes of the file up to the end of this row, its line end included. */
type Parsed = { record: string[]; info: { bytes: number } };
const isOnlySeparators = (cell: string) => /^[,;\s]*$/.test(cell);
type Parser = ReturnType<typeof parse>;

async function feed(
  parser: Parser,
  lines: LineFinder,
  head: string,
  texts: AsyncIterator<string>,
): Promise<void> {
  let wake = () => {};
  parser.on('drain', () => wake()).on('close', () => wake());
  for (let text: string | null = head; text !== null && !parser.destroyed; ) {
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length && !parser.destroyed; from += parsedAtOnce) {
      const { promise: drained, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const some = bytes.subarray(from, from + parsedAtOnce);
      lines.add(some);
      if (!parser.write(some) && !parser.destroyed) await drained;
    }
    const next: IteratorResult<string> = await texts.next();
    text = next.done ? null : next.value;
  }
  if (!parser.destroyed) parser.end();
}

function faultOf({ code }: CsvError, lines: LineFinder, separator: string): CsvFault {
  const isTooLong = code === 'CSV_MAX_RECORD_SIZE';
  const line = lines.lineOfFault(separator, isTooLong);
  if (code === 'CSV_QUOTE_NOT_CLOSED') return new CsvFault(line, 'has a quote that never closes');
  if (isTooLong)
    return new CsvFault(
      line,
      `has a row of more than ${longestRow / 1024} KiB, or a quote that never closes`,
    );
  return new CsvFault(line, 'is not CSV: a quote must stand around the whole cell, and be doubled inside');
}

const [quote, lineFeed, carriageReturn] = [...Buffer.from('"\n\r')] as [number, number, number];

type LineFinder = ReturnType<typeof lineFinder>;

/**
 * Finds the line numbers of rows and of faults. The parser's own count is wrong: it takes CRLF in a cell for two line
 * ends, and reports an unclosed quote at the end of the file. Keeps the bytes after the last row, which are few.
 */
function lineFinder() {
  const ends = lineEnds();
  let kept: Buffer = Buffer.alloc(0);
  /** Where in the file the kept bytes begin, and where among them the last row ends. */
  let [keptFrom, rowEnd] = [0, 0];
  return {
    add(bytes: Buffer): void {
      kept = Buffer.concat([kept.subarray(rowEnd), bytes]);
      [keptFrom, rowEnd] = [keptFrom + rowEnd, 0];
    },

    /** Returns the line on which the next row ends. `end`: the bytes of the file up to there. */
    endOfRow(end: number): number {
      ends.pass(kept, rowEnd, end - keptFrom);
      rowEnd = end - keptFrom;
      const last = kept[rowEnd - 1];
      // The last row of a file need not end its line.
      return last === lineFeed || last === carriageReturn ? ends.count() : ends.count() + 1;
    },

    /** Returns the line of the first fault after the last row. */
    lineOfFault(separator: string, isTooLong: boolean): number {
      const rest = kept.subarray(rowEnd);
      ends.pass(rest, 0, placeOfFault(rest, separator, isTooLong));
      return ends.count() + 1;
    },
  };
}

/** Counts ends of lines in bytes that come in pieces: CR, LF, or both together. */
function lineEnds() {
  let count = 0;
  let isBehindReturn = false;
  return {
    pass(bytes: Uint8Array, from: number, to: number): void {
      for (let at = from; at < to; at += 1) {
        const byte = bytes[at]!;
        if (byte === carriageReturn || (byte === lineFeed && !isBehindReturn)) count += 1;
        isBehindReturn = byte === carriageReturn;
      }
    },
    count: () => count,
  };
}

/** Returns the offset of the first fault: a quote that is misplaced or never closes, or a row that is too long. */
function placeOfFault(rows: Buffer, separator: string, isTooLong: boolean): number {
  const separates = separator.charCodeAt(0);
  let rowFrom = 0;
  let openedAt: number | null = null;
  let isCellBegun = false;
  for (let at = 0; at < rows.length; at += 1) {
    if (isTooLong && at - rowFrom > longestRow) break;
    const byte = rows[at]!;
    const isLineEnd = byte === lineFeed || byte === carriageReturn;
    const isCellEnd = isLineEnd || byte === separates;
    if (openedAt !== null) {
      if (byte !== quote) continue;
      const next = rows[at + 1];
      if (next === quote) at += 1;
      else if (next === undefined || [separates, lineFeed, carriageReturn].includes(next)) openedAt = null;
      else return at;
    } else if (byte === quote) {
      if (isCellBegun) return at;
      openedAt = at;
    }
    if (openedAt === null && isLineEnd) rowFrom = at + 1;
    isCellBegun = !isCellEnd;
  }
  return openedAt ?? rowFrom;
}

/** Joins small pieces: with each piece the parser reads the incomplete row again from its start. */
async function* inLargerPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    gathered.push(piece);
    length += piece.length;
    if (length < parsedAtOnce) continue;
    yield Buffer.concat(gathered);
    [gathered, length] = [[], 0];
  }
  yield Buffer.concat(gathered);
}

/** Decodes UTF-8 and removes a byte order mark. Throws a CsvFault for other bytes and for a NUL character. */
async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const ends = lineEnds();
  /** The first bytes of a character that goes on in the next piece. */
  let begun: Uint8Array = Buffer.alloc(0);
  const faultAt = (piece: Uint8Array, place: number, message: string) => {
    ends.pass(piece, 0, place);
    return new CsvFault(ends.count() + 1, message);
  };
  const decode = (piece?: Uint8Array) => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
    } catch {
      const whole = Buffer.concat([begun, piece ?? Buffer.alloc(0)]);
      throw faultAt(whole, lengthOfUtf8(whole), 'is not UTF-8: save it as CSV UTF-8');
    }
  };
  for await (const piece of bytes) {
    const text = decode(piece);
    const nul = piece.indexOf(0);
    if (nul >= 0) throw faultAt(piece, nul, 'has a NUL character');
    ends.pass(piece, 0, piece.length);
    begun = unfinished(Buffer.concat([begun, piece.subarray(-longestBegun)]));
    yield text;
  }
  yield decode();
}

const longestBegun = 3;
/** The bytes of a character, by its first one. */
const bytesOf = (first: number) => (first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4);

/** Returns the bytes at the end of a piece that begin a character but do not complete it. */
function unfinished(bytes: Uint8Array): Uint8Array {
  for (let count = 1; count <= Math.min(longestBegun, bytes.length); count += 1) {
    const byte = bytes[bytes.length - count]!;
    const isFirst = (byte & 0xc0) !== 0x80;
    if (isFirst) return bytesOf(byte) > count ? bytes.subarray(-count) : bytes.subarray(bytes.length);
  }
  return bytes.subarray(bytes.length);
}

/** Returns the number of bytes before the first one that is not valid UTF-8. */
function lengthOfUtf8(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const end = at + bytesOf(bytes[at]!);
    if (!isUtf8(bytes.subarray(at, end))) return at;
    at = end;
  }
  return at;
}

/** Reads the text up to the end of the header, and finds its separator: the candidate that occurs most. */
async function headOf(texts: AsyncIterator<string>): Promise<{ head: string; separator: string }> {
  const header = headerScan();
  let head = '';
  let isWhole = false;
  while (!isWhole && head.length <= longestRow) {
    const next = await texts.next();
    if (next.done) break;
    isWhole = header.add(next.value.slice(0, longestRow - head.length));
    head += next.value;
  }
  return { head, separator: mostOf(header.counts) };
}

/** Counts the separators of the first row that is not empty, outside of quotes. */
function headerScan() {
  const counts = separators.map(() => 0);
  let isQuoted = false;
  let isEmpty = true;
  return {
    counts,
    /** Takes the next piece of text; true when the row ends in it. */
    add(text: string): boolean {
      for (const character of text) {
        if (character === '"') isQuoted = !isQuoted;
        const isEnd = !isQuoted && (character === '\n' || character === '\r');
        if (isEnd && !isEmpty) return true;
        const index = isQuoted ? -1 : separators.indexOf(character);
        if (index >= 0) counts[index]! += 1;
        else if (!isEnd) isEmpty = false;
        // A row of separators alone is an empty one.
        if (isEnd) counts.fill(0);
      }
      return false;
    },
  };
}

const mostOf = (counts: number[]) => separators[counts.indexOf(Math.max(...counts))]!;
