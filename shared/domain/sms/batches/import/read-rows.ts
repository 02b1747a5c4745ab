import { type FieldErrors, invalid, invalidFields } from '../../../../common/errors.ts';
import { Faults } from '../../../../common/faults.ts';
import { timeSlices } from '../../../../common/time-slices.ts';
import type { BatchRow } from '../../../../db/sms/batches/rows.ts';
import { CsvFault, type CsvRow, readCsv } from '../../../../formats/csv-rows.ts';
import { BatchMessage, type NewSmsImport } from '../../../../schemas/sms/batches.ts';
import { type RowError, type RowFault, rowChecker } from '../rows.ts';
import { columnsOf, type FileColumns } from './columns.ts';
import { numberSet } from './number-set.ts';

/** `senders`: keys of the senders that the rows name, or that the request names for them. */
export type ReadRows = { rowCount: number; senders: string[]; errors: RowError[]; errorCount: number };
type File = AsyncIterable<Uint8Array>;
type ReadOptions = {
  workspaceId: string;
  content: string | null;
  at: Date;
  store: (rows: BatchRow[]) => Promise<void>;
  mostRows?: number;
};

/** The most rows of one file. */
const mostImportRows = 500_000;
const longestCell = 10_000;
const mostErrors = 1_000;
const mostFaultsShown = 100;
const rowsAtOnce = 1_000;
const bytesAtOnce = 2 * 1024 * 1024;
// The form in which spreadsheets show a long number that they take for a quantity, such as 4.47E+11.
const shortened = /^'?\s*\+?\d+(?:[.,]\d+)?E\+?\d+$/i;

/**
 * Hands the rows of the file that can be sent to `store`, some at a time; 400 where the file, or all of its rows, are
 * wrong.
 */
export async function readRows(file: File, request: NewSmsImport, options: ReadOptions): Promise<ReadRows> {
  const { workspaceId, content, at, store, mostRows = mostImportRows } = options;
  const { check, senders } = rowChecker(workspaceId, request, content, { at, seen: numberSet() });
  const errors: RowError[] = [];
  const faults: FieldErrors = {};
  let errorCount = 0;
  let rowCount = 0;
  let index = -1;
  let columns: FileColumns | null = null;
  let chunk: BatchRow[] = [];
  let bytes = 0;
  const slices = timeSlices();
  try {
    for await (const row of readCsv(file)) {
      if (!columns) {
        columns = columnsIn(row, request, content);
        continue;
      }
      if (slices.isOver()) await slices.next();
      index += 1;
      if (index === mostRows) throw invalid('file', `has more than ${mostRows} rows (line ${row.line})`);
      const checked = await rowOf(row, columns);
      if ('row' in checked) {
        chunk.push(checked.row);
        rowCount += 1;
        bytes += row.cells.reduce((sum, cell) => sum + cell.length, 0);
        if (chunk.length < rowsAtOnce && bytes < bytesAtOnce) continue;
        await store(chunk);
        [chunk, bytes] = [[], 0];
        continue;
      }
      const { field, message } = checked.fault;
      errorCount += 1;
      if (errors.length < mostErrors) errors.push({ index, error: `${field} ${message}` });
      if (errorCount <= mostFaultsShown) faults[`file[${index}].${field}`] = [message];
    }
  } catch (error) {
    throw error instanceof CsvFault ? invalid('file', `${error.message} (line ${error.line})`) : error;
  }
  if (!columns) throw invalid('file', 'has no header row (line 1)');
  if (rowCount === 0) throw invalidFields(index < 0 ? { file: ['has no rows below its header'] } : faults);
  if (chunk.length > 0) await store(chunk);
  return { rowCount, senders: [...senders], errors, errorCount };

  async function rowOf(
    { cells }: CsvRow,
    { names, ...places }: FileColumns,
  ): Promise<{ row: BatchRow } | { fault: RowFault }> {
    if (cells.length > names.length)
      return {
        fault: {
          field: 'row',
          message: `has ${cells.length} cells, but the header has only ${names.length}`,
        },
      };
    if (cells.some((cell) => cell.length > longestCell && [...cell].length > longestCell))
      return { fault: { field: 'row', message: `has a cell of more than ${longestCell} characters` } };
    const at = (place: number | null) => {
      const cell = place === null ? '' : (cells[place] ?? '');
      return cell.trim() === '' ? null : cell;
    };
    const recipient = at(places.recipient)?.trim() ?? '';
    if (shortened.test(recipient))
      return {
        fault: {
          field: 'recipient',
          message:
            'was shortened by a spreadsheet program; format the column as text and save the file again',
        },
      };
    const message = BatchMessage.safeParse({
      // Spreadsheets like to write an apostrophe in front of a value that is to be text.
      recipient: recipient.replace(/^'/, ''),
      data: Object.fromEntries(
        names.flatMap((name, place) => (name === '' ? [] : [[name, cells[place] ?? '']])),
      ),
      content: at(places.content),
      sender: at(places.sender)?.trim(),
      clientReference: at(places.clientReference),
    });
    if (!message.success) {
      const [issue] = message.error.issues;
      return { fault: { field: String(issue!.path[0] ?? 'row'), message: issue!.message } };
    }
    if (message.data.content == null && content === null)
      return { fault: { field: 'content', message: 'must not be empty' } };
    return check(message.data, rowCount);
  }
}

function columnsIn({ cells, line }: CsvRow, { columns }: NewSmsImport, content: string | null): FileColumns {
  const faults = new Faults();
  const found = columnsOf(cells, columns, (field, message) =>
    faults.refuse(field, `${message} (line ${line})`),
  );
  if (content === null && columns?.content === undefined)
    faults.refuse('content', 'is missing: give content, template or columns.content');
  faults.throwAny();
  return found;
}
