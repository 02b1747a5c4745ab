/** Values as an operator reads them: nothing for null, times as RFC 3339. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A line break or an escape sequence of a customer's text would spoil the lines, or the terminal.
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

/** One record, a line for each of its values. */
export function recordOf(record: object): string {
  return Object.entries(record)
    .map(([name, value]) => `${name}: ${cellOf(value)}\n`)
    .join('');
}

/** Rows as aligned text with a line of column names: numbers to the right, all else to the left. */
export function tableOf(rows: readonly object[]): string {
  if (rows.length === 0) return 'None\n';
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name) => {
    const values = rows.map((row) => (row as Record<string, unknown>)[name]);
    const cells = values.map(cellOf);
    const isNumeric = values.every((value) => value === null || typeof value === 'number');
    const width = Math.max(...[name, ...cells].map((cell) => [...cell].length));
    const padded = (cell: string) => {
      const gap = ' '.repeat(width - [...cell].length);
      return isNumeric ? gap + cell : cell + gap;
    };
    return [name, ...cells].map(padded);
  });
  return [...rows.keys(), rows.length]
    .map(
      (line) =>
        `${columns
          .map((column) => column[line]!)
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
