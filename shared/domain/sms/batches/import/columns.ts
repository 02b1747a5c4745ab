import type { NewSmsImport } from '../../../../schemas/sms/batches.ts';

/** Where the cells of a row go. `names`: what Liquid knows each column by. */
export type FileColumns = {
  names: string[];
  recipient: number;
  clientReference: number | null;
  sender: number | null;
  content: number | null;
};

const mostColumns = 200;
const recipientNames = new Set(['recipient', 'number', 'phone', 'mobile', 'msisdn']);
const longestShown = 50;

/** The columns of the header row, or its fault: a message and its field. */
export function columnsOf(
  header: readonly string[],
  wanted: NewSmsImport['columns'],
): { ok: true; columns: FileColumns } | { ok: false; field: string; message: string } {
  const refuse = (message: string, field = 'file') => ({ ok: false as const, field, message });
  if (header.length > mostColumns)
    return refuse(`has ${header.length} columns in its header; ${mostColumns} are the most`);
  const headers = header.map((cell) => cell.trim());
  const names = headers.map(nameOf);
  const seen = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const shown = headers[index]!.slice(0, longestShown);
    if (name === '') continue;
    if (name === 'contact')
      return refuse('has a column "contact", which is the name of something else in Liquid');
    const other = seen.get(name);
    if (other !== undefined)
      return refuse(
        `has the columns "${other}" and "${shown}", which would both be ${name.slice(0, longestShown)} in Liquid`,
      );
    seen.set(name, shown);
  }
  const columns: FileColumns = { names, recipient: -1, clientReference: null, sender: null, content: null };
  for (const field of ['recipient', 'clientReference', 'sender', 'content'] as const) {
    const chosen = wanted?.[field];
    if (chosen === undefined) continue;
    const index = headers.indexOf(chosen.trim());
    if (index < 0) return refuse('is no column of the file', `columns.${field}`);
    columns[field] = index;
  }
  if (columns.recipient < 0)
    columns.recipient = headers.findIndex((one) => recipientNames.has(one.toLowerCase()));
  if (columns.recipient < 0)
    return refuse('has no column for the recipient: call one recipient, or name it in columns.recipient');
  return { ok: true, columns };
}

/** Letters, digits and _ of any script: what Liquid takes for a name. */
function nameOf(header: string): string {
  return header.replaceAll(/[^\p{L}\p{N}_]/gu, '_');
}
