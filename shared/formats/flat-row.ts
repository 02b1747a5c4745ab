/**
 * Flattens a row of a report into one value for each column of a table. Joins the names of nested members with dots,
 * and turns a list into one text, such as `expired=3; undeliverable=1`.
 */
export function flatRow(row: object): Record<string, unknown> {
  return Object.fromEntries(columnsOf(row, ''));
}

function columnsOf(row: object, before: string): [string, unknown][] {
  return Object.entries(row).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    const column = before + name;
    if (Array.isArray(value)) return [[column, textOf(value)]];
    return value !== null && typeof value === 'object' ? columnsOf(value, `${column}.`) : [[column, value]];
  });
}

const textOf = (list: readonly object[]) => list.map((entry) => Object.values(entry).join('=')).join('; ');
