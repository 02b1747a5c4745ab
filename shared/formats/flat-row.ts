/**
 * A row of a report with a value for each column of a table: the names of members within members are joined by dots, and
 * a list is one text, such as `expired=3; undeliverable=1`.
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
