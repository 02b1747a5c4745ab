import { z } from 'zod';
import {
  CreatedAt,
  change,
  characterIssue,
  Id,
  NamedId,
  pageOf,
  pageQuery,
  text,
  UpdatedAt,
} from './fields.ts';

/** The longest each text of a contact may be, in characters (API decisions §4). */
export const contactTextLengths = {
  firstName: 80,
  lastName: 80,
  company: 120,
  email: 256,
  clientReference: 128,
} as const;
export type ContactText = keyof typeof contactTextLengths;
export const contactTexts = Object.keys(contactTextLengths) as ContactText[];
export const longestTag = 64;
export const mostTags = 100;
const mostTaggedAtOnce = 10_000;

const nullableText = z.string().nullable();
/** Descriptions of a contact's texts. */
const meanings = {
  firstName: 'Given name',
  lastName: 'Family name',
  company: 'The company that the person works for',
  email: 'An email address; it is not checked, and nothing is sent to it',
  clientReference: 'Your own reference',
} as const satisfies Record<ContactText, string>;
const eachText = <Field>(fieldOf: (name: ContactText) => Field) =>
  Object.fromEntries(contactTexts.map((name) => [name, fieldOf(name)])) as Record<ContactText, Field>;

export const Contact = z
  .object({
    id: Id('contact'),
    number: z.string().meta({ description: 'E.164', example: '+447700900123' }),
    country: nullableText.describe(
      'ISO 3166-1 alpha-2 code of the country of the number; null if the number does not show its country',
    ),
    ...eachText((name) => nullableText.describe(meanings[name])),
    tags: z.array(z.string()).describe('The tags, sorted'),
    suppressed: z.boolean().describe('true if the number is on the suppression list: it gets no texts'),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: 'Contact', description: 'A person in the address book, identified by the number' });
export type Contact = z.infer<typeof Contact>;

export const ContactPage = pageOf(Contact, 'ContactPage');

const number = text({ max: 40 }).meta({
  description: 'A number in any common format; without a country code it is a UK number',
  example: '07700 900123',
});

const tag = z.string().superRefine((value, context) => {
  const issue = characterIssue(value);
  if (issue !== null) context.addIssue({ code: 'custom', message: issue });
});
const tags = z
  .array(tag)
  .max(1_000)
  .describe(
    `At most ${mostTags} tags. Spaces around a tag are removed. A tag is ignored if it is blank, has more than ${longestTag} characters, or is already there in upper or lower case`,
  );
const texts = eachText((name) => text({ max: contactTextLengths[name] }).describe(meanings[name]));

export const NewContact = z
  .object({
    number: number.check(z.minLength(1)),
    ...eachText((name) => texts[name].nullish()),
    tags: tags.nullish(),
  })
  .meta({ id: 'NewContact', description: 'A new contact' });
export type NewContact = z.infer<typeof NewContact>;

export const ContactChanges = z
  .object({
    ...eachText((name) => change('stays', texts[name], `${meanings[name]}. An empty text clears it`)),
    number: change('stays', number),
    tags: change('stays', tags),
  })
  .meta({
    id: 'ContactChanges',
    description:
      'The changes of a contact. A field that is left out or null stays unchanged. An empty text or list clears the field',
  });
export type ContactChanges = z.infer<typeof ContactChanges>;

// A fault of one row goes into the outcome of the batch, and a longer text is cut there, so this schema allows both.
const rowText = z.string().nullish();

export const ContactBatch = z
  .object({
    contacts: z
      .array(
        z.object({
          number: z.string().min(1, 'must not be empty').meta({
            description: 'A number in any common format; without a country code it is a UK number',
            example: '07700 900123',
          }),
          ...eachText((name) => rowText.describe(meanings[name])),
        }),
      )
      .min(1)
      .max(1_000)
      .describe('One row for each number'),
  })
  .meta({
    id: 'ContactBatch',
    description:
      'Up to 1,000 rows for the address book. A row creates a contact, or changes the contact that has the number already',
  });
export type ContactBatch = z.infer<typeof ContactBatch>;
export type ContactRow = ContactBatch['contacts'][number];

export const ContactBatchOutcome = z
  .object({
    created: z.int32().describe('How many contacts were created'),
    updated: z.int32().describe('How many contacts existed already'),
    errors: z
      .array(
        z.object({
          index: z.int32().describe('The position of the row, counted from 0'),
          error: z.string().describe('The fault of the row'),
        }),
      )
      .describe('Rows that were not saved'),
    truncations: z
      .array(
        z.object({
          field: z.string().describe('The name of the field'),
          maxLength: z.int32().describe('How many characters were kept'),
          count: z.int32().describe('How many rows were shortened'),
          exampleRows: z.array(z.int32()).describe('The positions of up to five such rows, counted from 0'),
        }),
      )
      .describe('Fields with texts that were too long'),
  })
  .meta({ id: 'ContactBatchOutcome', description: 'The result of the batch' });
export type ContactBatchOutcome = z.infer<typeof ContactBatchOutcome>;

const searched =
  'Finds words in the name, the company, the email or the clientReference by their beginning; upper and lower case are the same. Each character that is not a letter or digit separates words, so example.com finds all addresses of this domain. In a text that is not ASCII, a symbol such as an emoji is part of a word. Only the first 20 words each of the names, the email and the clientReference are found. Digits also find numbers: by the first digits, or by at least the last 4 digits';

/** Selects contacts for a listing, a dynamic list, a preview or a copy. A contact must match every given field. */
export const ContactFilter = z
  .object({
    search: text({ max: 200 }).nullish().describe(searched),
    tag: text({ max: longestTag }).nullish().describe('Contacts that have this tag, in upper or lower case'),
    clientReference: text({ max: contactTextLengths.clientReference })
      .nullish()
      .describe('Contacts with this clientReference'),
  })
  .meta({
    id: 'ContactFilter',
    description: 'Selects contacts; a contact must match every field of the filter',
  });
export type ContactFilter = z.infer<typeof ContactFilter>;

export const ContactQuery = z.object({
  search: text({ max: 200 }).optional().describe(searched),
  tag: text({ max: longestTag }).optional().describe('Contacts that have this tag, in upper or lower case'),
  clientReference: text({ max: contactTextLengths.clientReference })
    .optional()
    .describe('Contacts with this clientReference'),
  ...pageQuery,
});
export type ContactQuery = z.infer<typeof ContactQuery>;

export const ContactTagChanges = z
  .object({
    contactIds: z
      .array(NamedId('contact'))
      .min(1)
      .max(mostTaggedAtOnce)
      .describe('The contacts to change. Unknown ids are ignored'),
    tags: tags.nullish().describe('Tags to add'),
    removeTags: tags.nullish().describe('Tags to remove, in upper or lower case'),
  })
  .meta({ id: 'ContactTagChanges', description: 'Tags to add to contacts, and tags to remove from them' });
export type ContactTagChanges = z.infer<typeof ContactTagChanges>;

export const ContactTagOutcome = z
  .object({ updated: z.int32().describe('How many contacts have one of the ids, changed or not') })
  .meta({ id: 'ContactTagOutcome', description: 'How many contacts were found by their ids' });

export const ContactTag = z
  .object({
    tag: z.string().describe('The tag, in its stored spelling'),
    count: z.int32().describe('How many contacts have this tag'),
  })
  .meta({ id: 'ContactTag', description: 'A tag, and how many contacts have it' });
export type ContactTag = z.infer<typeof ContactTag>;
export const ContactTagPage = pageOf(ContactTag, 'ContactTagPage');
