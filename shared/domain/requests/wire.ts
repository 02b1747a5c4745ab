import type { z } from 'zod';

/** A time is stored as a Date, and is text on the wire. */
type Stored<Value> = string extends Value ? Value | Date : Value;
type StoredFields<Wire> = { [Name in keyof Wire]: Stored<Wire[Name]> };

/** The field names of each schema. To ask the schema for them each time takes longer than all other work on a record. */
const names = new WeakMap<z.ZodObject, string[]>();

function namesOf(schema: z.ZodObject): string[] {
  let known = names.get(schema);
  if (!known) {
    known = Object.keys(schema.shape);
    names.set(schema, known);
  }
  return known;
}

let last: { ms: number; text: string } | undefined;

/** Several times of a record, and of the records of one batch, are often the same: that text is made once. */
function textOf(time: Date): string {
  const ms = time.getTime();
  if (last?.ms !== ms) last = { ms, text: time.toISOString() };
  return last.text;
}

/**
 * Returns the fields that the schema has, from a stored record, as callers get them. A field that the record has not,
 * or has in another form, must be given beside those of the record. An undefined field is left out.
 */
export function wireOf<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  record: StoredFields<z.input<z.ZodObject<Shape>>>,
): z.input<z.ZodObject<Shape>> {
  const stored = record as Record<string, unknown>;
  const wire: Record<string, unknown> = {};
  for (const name of namesOf(schema)) {
    const value = stored[name];
    if (value !== undefined) wire[name] = value instanceof Date ? textOf(value) : value;
  }
  return wire as z.input<z.ZodObject<Shape>>;
}
