import { z } from 'zod';
import { type FieldErrors, invalidFields, Problem, problem } from '../shared/common/errors.ts';
import { isPartial } from '../shared/common/faults.ts';
import type { Version } from '../shared/common/versions.ts';
import { oneOf } from '../shared/formats/edit-distance.ts';
import type { Caller } from '../shared/schemas/scopes.ts';
import type { Endpoint } from './endpoint.ts';
import { fieldPath } from './field-path.ts';
import { hasUnknown, innerOf, misnamedIn } from './known-fields.ts';
import { noUpload } from './middleware/form-body.ts';

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];
type RawInput = { params: unknown; query: unknown; body: unknown };
/** The faults in the shapes of a request, and the part of it that can be used. */
type Misshapen = RawInput & {
  errors: FieldErrors;
  /** Whether the ids in the path have a valid form. */
  isPathUsable: boolean;
  /** For a listing with a cursor, if nothing but the limit is wrong: the same request with a limit of 1. */
  smallestPage: Pick<RawInput, 'params' | 'query'> | null;
};

/**
 * Checks the shape of all input. If it is wrong, returns the faults and the usable part, to which the rules are
 * applied too.
 */
export function validate(
  endpoint: Endpoint,
  params: unknown,
  search: string,
  body: unknown,
): RawInput | Misshapen {
  const errors: FieldErrors = Object.create(null);
  const values = queryValues(endpoint.query ?? noQuery, search, errors);
  const query = endpoint.query && check(endpoint.query, values, errors);
  const checkedBody = endpoint.body && check(endpoint.body, body, errors);
  if (hasUnknown(endpoint.knownFields.known, body)) refuseUnknown(endpoint, body, errors);
  const checkedParams = endpoint.params?.safeParse(params, { error: describe });
  // The caller of a PUT chooses the name in the path, so the answer tells which names are allowed.
  if (checkedParams?.error && endpoint.method === 'put')
    for (const issue of checkedParams.error.issues) addError(errors, fieldPath(issue.path), issue.message);
  const input = { params: checkedParams?.data ?? {}, query: query ?? {}, body: checkedBody };
  if (Object.keys(errors).length > 0) {
    const isPathUsable = checkedParams?.success !== false;
    const smallestPage = isPathUsable ? smallestPageOf(endpoint, input.params, values) : null;
    return { ...input, errors, isPathUsable, smallestPage };
  }
  // An id of the wrong form gets the same answer as an id without a record.
  if (checkedParams?.success === false) throw problem('not_found');
  return input;
}

/**
 * Returns the refusal of a request of the wrong shape, with all of its faults: the business rules check the usable
 * part.
 */
export async function refusalOf(
  endpoint: Endpoint,
  { caller, version }: { caller: Caller; version: Version },
  { errors, isPathUsable, smallestPage, ...input }: Misshapen,
) {
  // The rules of a change need its record, and an id of the wrong form has none. A PUT may create its record.
  const knowsRules = isPathUsable || endpoint.method === 'put';
  const ofRules = knowsRules ? await faultsOf(async () => endpoint.faults?.({ caller, ...input })) : {};
  const ofPage =
    smallestPage &&
    (await faultsOf(async () => {
      const nothing = { body: undefined, upload: noUpload, prepared: undefined };
      await endpoint.handle({ caller, version, ...smallestPage, ...nothing });
    }));
  const found = { ...ofPage, ...ofRules };
  const fields = Object.keys(errors);
  // A rule may report a field as missing just because the field has the wrong shape.
  const isMisshapen = (field: string) => fields.some((one) => one === field || isWithin(one, field));
  for (const [field, messages] of Object.entries(found))
    if (!isMisshapen(field)) for (const message of messages) addError(errors, field, message);
  return invalidFields(errors);
}

async function faultsOf(find: () => Promise<FieldErrors | undefined | void>): Promise<FieldErrors> {
  try {
    return (await find()) ?? {};
  } catch (error) {
    // Other problems, such as a record that does not exist, are reported once the shape is right.
    if (error instanceof Problem) return error.options.errors ?? {};
    throw error;
  }
}

/**
 * Returns a request for one item, with which the listing checks its cursor: only the listing knows what a cursor is
 * bound to. Null if there is no cursor, or if more than the limit is wrong, because a cursor is bound to the filter
 * too.
 */
function smallestPageOf(endpoint: Endpoint, params: unknown, values: Record<string, unknown>) {
  if (endpoint.method !== 'get' || !values['cursor'] || !endpoint.query) return null;
  const { success, data: query } = endpoint.query.safeParse({ ...values, limit: '1' });
  return success ? { params, query } : null;
}

function isWithin(path: string, field: string): boolean {
  return path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

/** Returns the output of the schema. If the schema refuses the value, notes the faults and returns the usable part. */
function check(schema: z.ZodType, value: unknown, errors: FieldErrors): unknown {
  const result = schema.safeParse(value, { error: describe });
  if (result.success) return result.data;
  for (const issue of result.error.issues) addError(errors, fieldPath(issue.path), issue.message);
  return usableOf(schema, value);
}

/** Checks the body of a route that is not declared as an operation of the API. */
export function checkedBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const errors: FieldErrors = Object.create(null);
  const checked = check(schema, body, errors);
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  return checked as z.output<Schema>;
}

/** Returns the fields and items that are valid by themselves; undefined if nothing is usable. */
function usableOf(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodObject) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const given = value as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries(schema.shape)
        // A required field that is missing is kept, as undefined, because it has no usable value either.
        .filter(([name, field]) => Object.hasOwn(given, name) || !z.safeParse(field, undefined).success)
        .map(([name, field]) => [
          name,
          Object.hasOwn(given, name) ? usablePart(field, given[name]) : undefined,
        ]),
    );
  }
  if (schema instanceof z.ZodArray) {
    if (!Array.isArray(value)) return undefined;
    const items = value.map((item) => usablePart(schema.def.element, item));
    // If every item is valid, the fault is the number of items.
    return items.some(isPartial) ? items : undefined;
  }
  const inner = innerOf(schema);
  return inner === null ? undefined : usableOf(inner, value);
}

function usablePart(schema: z.core.$ZodType, value: unknown): unknown {
  const result = z.safeParse(schema, value);
  return result.success ? result.data : usableOf(schema, value);
}

/** Refuses unknown fields that would change what is done; most unknown fields are ignored. */
function refuseUnknown({ knownFields, notTaken }: Endpoint, body: unknown, errors: FieldErrors): void {
  for (const [name, value] of Object.entries(body as Record<string, unknown>))
    if (Object.hasOwn(notTaken, name) && value !== null) addError(errors, name, notTaken[name]!);
  for (const { path, meant } of misnamedIn(knownFields, body))
    addError(errors, fieldPath(path), `is not a field; did you mean ${meant}?`);
}

function addError(errors: FieldErrors, field: string, message: string): void {
  const messages = (errors[field] ??= []);
  if (!messages.includes(message)) messages.push(message);
}

const noQuery = z.object({});

/** The declared parameters of the query: strings, and lists of strings where a list is declared. */
function queryValues(schema: z.ZodObject, search: string, errors: FieldErrors): Record<string, unknown> {
  const values: Record<string, string | string[] | undefined> = Object.create(null);
  if (search === '') return values;
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const written = equals < 0 ? pair : pair.slice(0, equals);
    const name = decode(written) ?? written;
    const field = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    if (!field) {
      addError(errors, name, unknownParameter(name, Object.keys(schema.shape)));
      continue;
    }
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1));
    if (value === null) addError(errors, name, 'must be percent-encoded UTF-8');
    else if (isList(field)) {
      const items = Array.isArray(values[name]) ? values[name] : [];
      values[name] = [...items, ...value.split(',').filter(Boolean)];
    } else if (Object.hasOwn(values, name)) addError(errors, name, 'must be given only once');
    else values[name] = value;
  }
  return values;
}

/** Returns the fault of an unknown parameter. An unknown filter, if ignored, would leave the list unfiltered. */
function unknownParameter(name: string, known: readonly string[]): string {
  return known.length === 0
    ? 'is unknown: this operation has no query parameters'
    : `is not a query parameter of this operation: the name must be ${oneOf(known, name)}`;
}

const encoded = /[%+]/;

function decode(text: string): string | null {
  if (!encoded.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function isList(field: z.core.$ZodType): boolean {
  if (field instanceof z.ZodOptional || field instanceof z.ZodDefault) return isList(field.def.innerType);
  return field instanceof z.ZodArray;
}

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
  record: 'an object',
};

/** Returns the fault of a value as the end of a sentence that begins with the name of the field. */
function describe(issue: RawIssue): string {
  if (issue.input === undefined) return 'is required';
  if (issue.code === 'invalid_type')
    return issue.input === null ? 'must not be null' : `must be ${kinds[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') return `must be ${oneOf(issue.values, issue.input)}`;
  if (issue.code === 'too_small') return `must ${amount(issue.origin, 'at least', Number(issue.minimum))}`;
  if (issue.code === 'too_big') return `must ${amount(issue.origin, 'at most', Number(issue.maximum))}`;
  if (issue.code === 'invalid_format' && issue.format === 'datetime')
    return 'must be a date and time with an offset, as in RFC 3339';
  if (issue.code === 'invalid_format' && issue.format !== 'regex') return `must be a valid ${issue.format}`;
  return 'has the wrong form';
}

function amount(origin: string, bound: string, limit: number): string {
  if (origin === 'string') return `have ${bound} ${limit} characters`;
  if (origin === 'array') return `have ${bound} ${limit} ${limit === 1 ? 'item' : 'items'}`;
  return `be ${bound} ${limit}`;
}
