import { CsvError, parse } from 'csv-parse';

/** One row with something in it; `line` is where it ends, and counts from 1. */
export type CsvRow = { line: number; cells: string[] };

/** A fault of the file as a whole, so that nothing behind it can be trusted. */
export class CsvFault extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

const longestRow = 64 * 1024;
/** The parser reads all that it is given in one go, and a row may have two bytes. */
const parsedAtOnce = 4 * 1024;
const rowEnds = ['\r\n', '\n', '\r'];
const separators = [',', ';', '\t'];

/**
 * The rows of a CSV file (RFC 4180), the header first, as spreadsheets write them: in UTF-8 with or without a byte
 * order mark, separated as the header shows, and with any end of a line. Empty rows are left out. It holds one row at a
 * time.
 */
export async function* readCsv(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow> {
  const texts = decoded(bytes);
  const { head, separator } = await headOf(texts);
  const parser = parse({
    delimiter: separator,
    record_delimiter: rowEnds,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: longestRow,
    info: true,
  });
  // A reader that stops also stops the parser, and with it the feed.
  const feeding = feed(parser, head, texts);
  feeding.catch((error: Error) => parser.destroy(error));
  try {
    let isHeader = true;
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      // Of other separators than the header's.
      if (isHeader && record.every(isOnlySeparators)) continue;
      isHeader = false;
      yield { line: info.lines, cells: record };
    }
    await feeding;
  } catch (error) {
    throw error instanceof CsvError ? faultOf(error) : error;
  } finally {
    parser.destroy();
  }
}

type Parsed = { record: string[]; info: { lines: number } };
const isOnlySeparators = (cell: string) => /^[,;\s]*$/.test(cell);
type Parser = ReturnType<typeof parse>;

async function feed(parser: Parser, head: string, texts: AsyncIterator<string>): Promise<void> {
  let wake = () => {};
  parser.on('drain', () => wake()).on('close', () => wake());
  for (let text: string | null = head; text !== null && !parser.destroyed; ) {
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length && !parser.destroyed; from += parsedAtOnce) {
      const { promise: drained, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      if (!parser.write(bytes.subarray(from, from + parsedAtOnce)) && !parser.destroyed) await drained;
    }
    const next: IteratorResult<string> = await texts.next();
    text = next.done ? null : next.value;
  }
  if (!parser.destroyed) parser.end();
}

function faultOf(error: CsvError): CsvFault {
  const line = Number(error['lines'] ?? 1);
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return new CsvFault(line, 'has a quote that never closes');
  if (error.code === 'CSV_MAX_RECORD_SIZE')
    return new CsvFault(
      line,
      `has a row of more than ${longestRow / 1024} KiB, or a quote that never closes`,
    );
  return new CsvFault(line, 'is not CSV: a quote must stand around the whole cell, and be doubled inside');
}

/** Throws where it is not UTF-8. The decoder takes off a byte order mark. */
async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  const decode = (piece?: Uint8Array) => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
    } catch {
      const text = new TextDecoder().decode(piece);
      const before = text.slice(0, Math.max(0, text.indexOf('\ufffd')));
      throw new CsvFault(line + lineEndsIn(before), 'is not UTF-8: save it as CSV UTF-8');
    }
  };
  for await (const piece of bytes) {
    const text = decode(piece);
    const nul = text.indexOf('\0');
    if (nul >= 0) throw new CsvFault(line + lineEndsIn(text.slice(0, nul)), 'has a NUL character');
    line += lineEndsIn(text);
    yield text;
  }
  yield decode();
}

function lineEndsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** The text up to the end of the header, and its separator: the candidate that occurs most. */
async function headOf(texts: AsyncIterator<string>): Promise<{ head: string; separator: string }> {
  let head = '';
  for (;;) {
    const counts = separatorsIn(head);
    if (counts.isWhole || head.length > longestRow) return { head, separator: mostOf(counts.of) };
    const next = await texts.next();
    if (next.done) return { head, separator: mostOf(counts.of) };
    head += next.value;
  }
}

/** Of the first row with something in it, outside of quotes. */
function separatorsIn(text: string): { of: number[]; isWhole: boolean } {
  const of = separators.map(() => 0);
  let isQuoted = false;
  let isEmpty = true;
  for (const character of text.slice(0, longestRow)) {
    if (character === '"') isQuoted = !isQuoted;
    const isEnd = !isQuoted && (character === '\n' || character === '\r');
    if (isEnd && !isEmpty) return { of, isWhole: true };
    const index = isQuoted ? -1 : separators.indexOf(character);
    if (index >= 0) of[index]! += 1;
    else if (!isEnd) isEmpty = false;
    // A row of separators alone is an empty one.
    if (isEnd) of.fill(0);
  }
  return { of, isWhole: false };
}

const mostOf = (counts: number[]) => separators[counts.indexOf(Math.max(...counts))]!;
