import { z } from 'zod';
import { innerOf } from './known-fields.ts';

/** Returns the places where a schema takes any value: field names, and `*` for any item of an array. */
export function freeFormOf(schema: z.core.$ZodType): string[][] {
  if (schema instanceof z.ZodRecord || schema instanceof z.ZodUnknown || schema instanceof z.ZodAny)
    return [[]];
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([name, field]) => below(name, field));
  if (schema instanceof z.ZodArray) return below('*', schema.def.element);
  if (schema instanceof z.ZodUnion) return schema.def.options.flatMap((option) => freeFormOf(option));
  const inner = innerOf(schema);
  return inner ? freeFormOf(inner) : [];
}

function below(name: string, schema: z.core.$ZodType): string[][] {
  return freeFormOf(schema).map((path) => [name, ...path]);
}
