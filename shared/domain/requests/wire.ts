import type { z } from 'zod';

/** A time is stored as a Date, and is text on the wire. */
type Stored<Value> = string extends Value ? Value | Date : Value;
type StoredFields<Wire> = { [Name in keyof Wire]: Stored<Wire[Name]> };

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
  for (const name in schema.shape) {
    const value = stored[name];
    if (value !== undefined) wire[name] = value instanceof Date ? value.toISOString() : value;
  }
  return wire as z.input<z.ZodObject<Shape>>;
}
