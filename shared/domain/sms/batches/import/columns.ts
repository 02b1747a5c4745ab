import type { Refuse } from '../../../../common/faults.ts';
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

/** The columns of the header row. All of its faults are refused, each with its field. */
export function columnsOf(
  header: readonly string[],
  wanted: NewSmsImport['columns'],
  refuse: Refuse,
): FileColumns {
  const columns: FileColumns = {
    names: [],
    recipient: -1,
    clientReference: null,
    sender: null,
    content: null,
  };
  if (header.length > mostColumns) {
    refuse('file', `has ${header.length} columns in its header; it may have at most ${mostColumns}`);
    return columns;
  }
  const headers = header.map((cell) => cell.trim());
  columns.names = headers.map(nameOf);
  checkNames(headers, columns.names, refuse);
  for (const field of ['recipient', 'clientReference', 'sender', 'content'] as const) {
    const chosen = wanted?.[field];
    if (chosen === undefined) continue;
    const index = headers.indexOf(chosen.trim());
    if (index < 0) refuse(`columns.${field}`, 'is not the name of a column of the file');
    columns[field] = index;
  }
  if (wanted?.recipient !== undefined) return columns;
  columns.recipient = headers.findIndex((one) => recipientNames.has(one.toLowerCase()));
  if (columns.recipient < 0)
    refuse(
      'file',
      'has no column for the recipient: call a column recipient, or give its name in columns.recipient',
    );
  return columns;
}

/** Refuses columns that Liquid could not tell apart, or would confuse with a name that has another meaning there. */
function checkNames(headers: string[], names: string[], refuse: Refuse): void {
  const seen = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const shown = headers[index]!.slice(0, longestShown);
    if (name === '') continue;
    if (name === 'contact')
      refuse(
        'file',
        'has a column "contact", a name that is reserved for the contact in Liquid; rename the column',
      );
    const other = seen.get(name);
    if (other === undefined) seen.set(name, shown);
    else
      refuse(
        'file',
        `has the columns "${other}" and "${shown}", which both become ${name.slice(0, longestShown)} in Liquid; rename one of them`,
      );
  }
}

/** Letters, digits and _ of any script: what Liquid takes for a name. */
function nameOf(header: string): string {
  return header.replaceAll(/[^\p{L}\p{N}_]/gu, '_');
}
