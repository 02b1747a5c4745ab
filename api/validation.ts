import { z } from 'zod';
import { type FieldErrors, type Problem, problem } from '../shared/errors.ts';
import type { Endpoint } from './endpoint.ts';

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];
type Input = { params: unknown; query: unknown; body: unknown };

/** Checks all of the input and reports all that is wrong with it at once. */
export function validate(endpoint: Endpoint, params: unknown, search: string, body: unknown): Input {
  const errors: FieldErrors = Object.create(null);
  const query = endpoint.query && check(endpoint.query, queryValues(endpoint.query, search, errors), errors);
  const checkedBody = endpoint.body && check(endpoint.body, body, errors);
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  const checkedParams = endpoint.params?.safeParse(params);
  // An id that no record can have is answered as one that no record has.
  if (checkedParams?.success === false) throw problem('not_found');
  return { params: checkedParams?.data ?? {}, query: query ?? {}, body: checkedBody };
}

export function validationFailed(errors: FieldErrors): Problem {
  const entries = Object.entries(errors);
  const [field, messages] = entries[0]!;
  const detail =
    entries.length === 1 ? `${field} ${messages[0]}.` : `${entries.length} fields are not valid.`;
  return problem('validation_failed', { detail, errors });
}

function check(schema: z.ZodType, value: unknown, errors: FieldErrors): unknown {
  const result = schema.safeParse(value, { error: describe });
  if (result.success) return result.data;
  for (const issue of result.error.issues) addError(errors, fieldPath(issue.path), issue.message);
  return undefined;
}

function addError(errors: FieldErrors, field: string, message: string): void {
  const messages = (errors[field] ??= []);
  if (!messages.includes(message)) messages.push(message);
}

/** `template.name`, `messages[3]`, `contacts[2].email`. */
export function fieldPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path)
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? String(part) : `.${String(part)}`;
  return text === '' ? 'body' : text;
}

/** The declared parameters of the query: strings, and lists of strings where a list is declared. */
function queryValues(schema: z.ZodObject, search: string, errors: FieldErrors): Record<string, unknown> {
  const values: Record<string, string | string[] | undefined> = Object.create(null);
  if (search === '') return values;
  for (const pair of search.split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const field = name !== null && Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    // Unknown parameters are ignored, as unknown fields of a body are.
    if (name === null || !field) continue;
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1));
    if (value === null) addError(errors, name, 'must be percent-encoded UTF-8');
    else if (isList(field)) {
      const items = Array.isArray(values[name]) ? values[name] : [];
      values[name] = [...items, ...value.split(',').filter(Boolean)];
    } else if (Object.hasOwn(values, name)) addError(errors, name, 'must be given once');
    else values[name] = value;
  }
  return values;
}

function decode(text: string): string | null {
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

/** What is wrong with a value, as the end of a sentence that begins with the field. */
function describe(issue: RawIssue): string {
  if (issue.input === undefined) return 'is required';
  if (issue.code === 'invalid_type')
    return issue.input === null ? 'must not be null' : `must be ${kinds[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
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
