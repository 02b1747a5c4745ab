import { z } from 'zod';
import type { ZodOpenApiOverride } from 'zod-openapi';
import type { IdPrefix } from '../formats/ids.ts';
import { jsonFault } from '../formats/json-size.ts';

const idFields = new Map<IdPrefix, z.ZodString>();

/** An id of one kind of record. */
export function Id(prefix: IdPrefix): z.ZodString {
  let field = idFields.get(prefix);
  if (!field) {
    field = z
      .string()
      .regex(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`), `must be the id of a ${prefix}`)
      .meta({ description: `Id of ${named(prefix)}`, example: `${prefix}_01h455vb4pex5vsknk084sn02q` });
    idFields.set(prefix, field);
  }
  return field;
}

/** Names of records for readers, where the prefix of their ids is another word. */
const names: { [Prefix in IdPrefix]?: string } = {
  key: 'an API key',
  domain: 'a sending domain',
  testrecipient: 'a test recipient',
  etemplate: 'an email template',
  template: 'an SMS template',
  include: 'an email include',
  sms: 'a text message',
  batch: 'an SMS batch',
  link: 'a short link',
  list: 'a contact list',
  phone: 'a phone of the simulator',
  profile: 'a business profile',
};

const named = (prefix: IdPrefix): string =>
  names[prefix] ?? `${/^[aeiou]/.test(prefix) ? 'an' : 'a'} ${prefix}`;

/**
 * An id that is taken in any form: text that cannot be an id is treated like an id without a record. In a list of ids,
 * both are ignored.
 */
export function NamedId(prefix: IdPrefix): z.ZodString {
  return z.string().meta({ example: `${prefix}_01h455vb4pex5vsknk084sn02q` });
}

/** A time in a response: UTC with milliseconds. */
export const Timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: 'UTC, to the millisecond', example: '2026-11-20T10:00:00.000Z' });

export const CreatedAt = Timestamp.describe('When it was created: UTC, to the millisecond');
export const UpdatedAt = Timestamp.describe('When it last changed: UTC, to the millisecond');

/** A time in a request: RFC 3339 with any offset, handed on as a Date. */
export const Moment = z
  .string()
  // RFC 3339 §5.6 lets `t` and `z` be lower case.
  .toUpperCase()
  .check(z.iso.datetime({ offset: true }))
  .transform((text) => new Date(text))
  // With its offset, a time may be outside of the years that a UTC time can express.
  .refine((time) => time.toISOString().length === 24, 'must be in the years 0000 to 9999 of UTC')
  .meta({ description: 'RFC 3339, with any offset', example: '2026-11-20T10:00:00+01:00' });

/** The effect of null on a field of a PATCH. A field that is left out always keeps its value. */
export const nullRules = {
  stays: 'null: unchanged',
  clears: 'null clears it',
  default: 'null sets the default',
  refused: 'null is refused',
} as const;

/** A field that a PATCH may change. Its description says what null does. */
export function change<Field extends z.ZodType>(
  rule: Exclude<keyof typeof nullRules, 'refused'>,
  field: Field,
  description?: string,
): z.ZodOptional<z.ZodNullable<Field>>;
export function change<Field extends z.ZodType>(
  rule: 'refused',
  field: Field,
  description?: string,
): z.ZodOptional<Field>;
export function change(
  rule: keyof typeof nullRules,
  field: z.ZodType,
  description: string | undefined = field.meta()?.description,
): z.ZodType {
  const changed = rule === 'refused' ? field.optional() : field.nullish();
  const words = [...(description ? [description] : []), `Left out: unchanged; ${nullRules[rule]}`];
  return changed.describe(words.join('. '));
}

/** `blank`: whether text of nothing but spaces is allowed; default true. */
type TextFieldOptions = { min?: number; max: number; multiline?: boolean; blank?: boolean };

/** Characters that a text of one line must not have. */
// oxlint-disable-next-line no-control-regex -- they are what this looks for
const controls = /[\u0000-\u0008\u000b-\u001f]/;

/** Text as people write it. Lengths count code points, as JSON Schema's minLength and maxLength do. */
export function text({ min = 0, max, multiline = false, blank = true }: TextFieldOptions): z.ZodString {
  return z
    .string()
    .superRefine((value, context) => {
      const issue = textIssue(value, min, max, multiline) ?? (blank ? null : blankIssue(value));
      if (issue !== null) context.addIssue({ code: 'custom', message: issue });
    })
    .meta(min > 0 ? { minLength: min, maxLength: max } : { maxLength: max });
}

/** The fault of the characters of a text, which may be of any length. */
export function characterIssue(value: string, multiline = false): string | null {
  if (!value.isWellFormed()) return 'must not contain half of a surrogate pair';
  if (multiline ? value.includes('\0') : controls.test(value)) return 'must not contain control characters';
  return null;
}

function textIssue(value: string, min: number, max: number, multiline: boolean): string | null {
  const issue = characterIssue(value, multiline);
  if (issue !== null) return issue;
  // A code point takes one or two units, so most texts need no counting.
  const units = value.length;
  if (units > max && (units > 2 * max || codePoints(value) > max)) return `must be at most ${max} characters`;
  if (units < 2 * min && (units < min || codePoints(value) < min))
    return min === 1 ? 'must not be empty' : `must be at least ${min} characters`;
  return null;
}

function blankIssue(value: string): string | null {
  return /[^\p{Z}\p{C}]/u.test(value) ? null : 'must not be blank';
}

function codePoints(value: string): number {
  let count = 0;
  // The text is well formed, so each second half of a pair belongs to the unit before it.
  for (let index = 0; index < value.length; index += 1)
    if ((value.charCodeAt(index) & 0xfc00) !== 0xdc00) count += 1;
  return count;
}

/**
 * The most values of a free-form object: members and items at all depths. A body is checked for them before it is
 * parsed.
 */
export const mostFreeValues = 20_000;
const largestFree = { length: 1024 * 1024, levels: 32 };

/**
 * A free-form JSON object, such as the merge data of a template. It does not use the library's record type, which
 * copies and checks each member by itself: that blocked the event loop for 200 ms with 10,000 rows of 46 members.
 */
export const JsonObject = z
  .unknown()
  .superRefine((value, context) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      context.addIssue({ code: 'invalid_type', expected: 'record', input: value });
      return;
    }
    const message = jsonFault(value, largestFree);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .meta({
    type: 'object',
    additionalProperties: true,
    description: `Any JSON object, of at most ${mostFreeValues} values (members and items at all depths) and 1 MiB`,
  }) as unknown as z.ZodType<Record<string, unknown>, Record<string, unknown>>;

/** A whole number in the query: plain digits, so that `1e2`, ` 1` and `01` are refused. */
export function queryInteger({ min, max }: { min: number; max: number }) {
  // The API description shows the number that the text stands for.
  const override: ZodOpenApiOverride = ({ jsonSchema }) => {
    delete jsonSchema.pattern;
    Object.assign(jsonSchema, { type: 'integer', format: 'int32', minimum: min, maximum: max });
  };
  return z
    .string()
    .regex(/^(0|-?[1-9][0-9]{0,9})$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int32().min(min).max(max))
    .meta({ override });
}

/** The customer's own reference of a record, in answers. */
export const ownReference = z
  .string()
  .nullable()
  .meta({ description: 'Your own reference, as you gave it', example: 'order-7' });
export const ownTag = z
  .string()
  .nullable()
  .meta({ description: 'Your own tag, in lower case; reports count messages by tag', example: 'orders' });

/**
 * Tags are stored in lower case. The lower case of `İ` has two characters, so a stored tag may be twice as long as the
 * given one.
 */
export const tagFilter = (description: string) => text({ max: 128 }).optional().meta({ description });

/** The query fields of a listing with a cursor. */
export const pageQuery = {
  limit: queryInteger({ min: 1, max: 200 }).default(50).describe('The most items on a page'),
  cursor: text({ max: 2000 }).optional().describe('nextCursor of the previous page'),
};

export const PageQuery = z.object(pageQuery);
export type PageQuery = z.infer<typeof PageQuery>;

/** The same for a listing of messages, by when they were accepted. */
export const messagePageQuery = {
  since: Moment.optional().describe('Created at or after'),
  until: Moment.optional().describe('Created before'),
  ...pageQuery,
};

/** The same for a listing of large sources. */
export const SourcePageQuery = z.object({
  ...pageQuery,
  limit: pageQuery.limit.describe('The most items on a page; a page with large items has fewer'),
});

export const pageMeta = (id: string) => ({
  id,
  description: 'A page of results; nextCursor leads to the next page',
});

/** One page of a listing. `id` names the shape in the API description. */
export function pageOf<Item extends z.ZodType>(item: Item, id: string) {
  return z
    .object({
      data: z.array(item).describe('The items of this page'),
      nextCursor: z
        .string()
        .nullable()
        .describe(
          'Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty',
        ),
    })
    .meta(pageMeta(id));
}
