import type { Request } from 'express';
import { z } from 'zod';

/** Whether the caller would have CSV rather than JSON. */
export function prefersCsv(request: Request): boolean {
  return request.accepts(['application/json', 'text/csv']) === 'text/csv';
}

/**
 * The rows of a report as CSV (RFC 4180), with the names of members within members joined by dots. The header comes from
 * the description, so that it is there without rows too.
 */
export function csvOf(report: z.ZodType, data: readonly object[]): string {
  const columns = columnsOf(rowOf(report));
  const lines = [
    columns.map((path) => path.join('.')),
    ...data.map((row) => columns.map((path) => cell(path.reduce<unknown>(member, row)))),
  ];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}

/** Members of a list as one cell, such as `expired=3 undeliverable=1`. */
const listed = (list: readonly object[]) => list.map((entry) => Object.values(entry).join('=')).join(' ');

const member = (value: unknown, name: string) => (value as Record<string, unknown>)[name];

function rowOf(report: z.ZodType): z.ZodObject {
  const list = report instanceof z.ZodObject ? report.shape['data'] : undefined;
  if (list instanceof z.ZodArray && list.element instanceof z.ZodObject) return list.element;
  throw new Error('Only what has rows under data can be CSV');
}

function columnsOf({ shape }: z.ZodObject): string[][] {
  return Object.entries(shape).flatMap(([name, field]) =>
    field instanceof z.ZodObject ? columnsOf(field).map((path) => [name, ...path]) : [[name]],
  );
}

/** A spreadsheet takes a text that begins like a formula for one, and carries it out; an apostrophe keeps it a text. */
function cell(value: unknown): string {
  if (Array.isArray(value)) return cell(listed(value));
  if (typeof value === 'number' || typeof value === 'boolean') return `${value}`;
  if (typeof value !== 'string') return '';
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
