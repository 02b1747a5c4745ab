import type { Request } from 'express';
import { z } from 'zod';
import { flatRow } from '../shared/formats/flat-row.ts';

/** Whether the caller prefers CSV to JSON. Parameters of a type, such as a charset, are ignored. */
export function prefersCsv(request: Request): boolean {
  const accept = request.headers.accept?.split(',').map(withoutParameters).join(',');
  // Express reads the header from here.
  const plain: Request = Object.create(request, { headers: { value: { ...request.headers, accept } } });
  return plain.accepts(['application/json', 'text/csv']) === 'text/csv';
}

function withoutParameters(range: string): string {
  const [type, ...parameters] = range.split(';');
  return [type, ...parameters.filter((parameter) => /^\s*q\s*=/i.test(parameter))].join(';');
}

/**
 * Returns the rows of a report as CSV (RFC 4180); names of nested members are joined by dots. The header comes from
 * the schema, so that it is there without rows too.
 */
export function csvOf(report: z.ZodType, data: readonly object[]): string {
  const columns = columnsOf(rowOf(report));
  const rows = data.map(flatRow).map((row) => columns.map((column) => cell(row[column])));
  return [columns, ...rows].map((cells) => `${cells.join(',')}\r\n`).join('');
}

function rowOf(report: z.ZodType): z.ZodObject {
  const list = report instanceof z.ZodObject ? report.shape['data'] : undefined;
  if (list instanceof z.ZodArray && list.element instanceof z.ZodObject) return list.element;
  throw new Error('Only what has rows under data can be CSV');
}

function columnsOf({ shape }: z.ZodObject): string[] {
  return Object.entries(shape).flatMap(([name, field]) =>
    field instanceof z.ZodObject ? columnsOf(field).map((column) => `${name}.${column}`) : [name],
  );
}

/** Writes a cell. A spreadsheet runs a text that begins like a formula; an apostrophe keeps it a text. */
function cell(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return `${value}`;
  if (typeof value !== 'string') return '';
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
