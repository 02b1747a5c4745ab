import { z } from 'zod';
import { CreatedAt, change, controls, Id, NamedId, pageOf, pageQuery, text, UpdatedAt } from './fields.ts';

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
  company: 'Where they work',
  email: 'An address; it is not checked, and nothing is sent to it',
  clientReference: 'Your own reference',
} as const satisfies Record<ContactText, string>;

export const Contact = z
  .object({
    id: Id('contact'),
    number: z.string().meta({ description: 'E.164', example: '+447700900123' }),
    country: nullableText.meta({ description: 'ISO 3166-1 alpha-2 of the number; null when undeterminable' }),
    firstName: nullableText.meta({ description: meanings.firstName }),
    lastName: nullableText.meta({ description: meanings.lastName }),
    company: nullableText.meta({ description: meanings.company }),
    email: nullableText.meta({ description: meanings.email }),
    clientReference: nullableText.meta({ description: meanings.clientReference }),
    tags: z.array(z.string()).meta({ description: 'Sorted' }),
    suppressed: z
      .boolean()
      .meta({ description: 'The number is on the suppression list: sends to it are refused' }),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: 'Contact' });
export type Contact = z.infer<typeof Contact>;

export const ContactPage = pageOf(Contact, 'ContactPage');

const number = text({ max: 40 }).meta({
  description: 'Any common format; a number without a country code is of the UK',
  example: '07700 900123',
});
/** The fault of a text of one line that may be of any length. */
export function lineIssue(value: string): string | null {
  if (!value.isWellFormed()) return 'must not contain half of a surrogate pair';
  return controls.test(value) ? 'must not contain control characters' : null;
}

const tag = z.string().superRefine((value, context) => {
  const issue = lineIssue(value);
  if (issue !== null) context.addIssue({ code: 'custom', message: issue });
});
const tags = z
  .array(tag)
  .max(1_000)
  .meta({
    description: `At most ${mostTags}; surrounding spaces are taken off, and what is blank, longer than ${longestTag} characters or there already, whatever its case, is dropped`,
  });
const texts = {
  firstName: text({ max: contactTextLengths.firstName }).meta({ description: meanings.firstName }),
  lastName: text({ max: contactTextLengths.lastName }).meta({ description: meanings.lastName }),
  company: text({ max: contactTextLengths.company }).meta({ description: meanings.company }),
  email: text({ max: contactTextLengths.email }).meta({ description: meanings.email }),
  clientReference: text({ max: contactTextLengths.clientReference }).meta({
    description: meanings.clientReference,
  }),
};
const changed = (name: ContactText) => `${meanings[name]}. An empty text clears it`;

export const NewContact = z
  .object({
    number: number.check(z.minLength(1)),
    firstName: texts.firstName.nullish(),
    lastName: texts.lastName.nullish(),
    company: texts.company.nullish(),
    email: texts.email.nullish(),
    clientReference: texts.clientReference.nullish(),
    tags: tags.nullish(),
  })
  .meta({ id: 'NewContact' });
export type NewContact = z.infer<typeof NewContact>;

export const ContactChanges = z
  .object({
    firstName: change('stays', texts.firstName, changed('firstName')),
    lastName: change('stays', texts.lastName, changed('lastName')),
    company: change('stays', texts.company, changed('company')),
    email: change('stays', texts.email, changed('email')),
    clientReference: change('stays', texts.clientReference, changed('clientReference')),
    number: change('stays', number),
    tags: change('stays', tags),
  })
  .meta({
    id: 'ContactChanges',
    description: 'What is left out or null stays; an empty text or list clears',
  });
export type ContactChanges = z.infer<typeof ContactChanges>;

// The fault of one row is told in the outcome, and longer texts are shortened.
const rowText = z.string().nullish();

export const ContactBatch = z
  .object({
    contacts: z
      .array(
        z.object({
          number: z.string().min(1, 'must not be empty').meta({
            description: 'Any common format; a number without a country code is of the UK',
            example: '07700 900123',
          }),
          firstName: rowText.meta({ description: meanings.firstName }),
          lastName: rowText.meta({ description: meanings.lastName }),
          company: rowText.meta({ description: meanings.company }),
          email: rowText.meta({ description: meanings.email }),
          clientReference: rowText.meta({ description: meanings.clientReference }),
        }),
      )
      .min(1)
      .max(1_000)
      .meta({ description: 'One row for each number' }),
  })
  .meta({ id: 'ContactBatch' });
export type ContactBatch = z.infer<typeof ContactBatch>;
export type ContactRow = ContactBatch['contacts'][number];

export const ContactBatchOutcome = z
  .object({
    created: z.int32().meta({ description: 'Contacts that are new' }),
    updated: z.int32().meta({ description: 'Contacts that were there' }),
    errors: z
      .array(
        z.object({
          index: z.int32().meta({ description: 'The place of the row, counting from 0' }),
          error: z.string().meta({ description: 'What is wrong with it' }),
        }),
      )
      .meta({ description: 'Rows that were not saved' }),
    truncations: z
      .array(
        z.object({
          field: z.string().meta({ description: 'Which text' }),
          maxLength: z.int32().meta({ description: 'How many characters were kept' }),
          count: z.int32().meta({ description: 'Rows shortened' }),
          exampleRows: z.array(z.int32()).meta({ description: 'Up to five, counting from 0' }),
        }),
      )
      .meta({ description: 'Texts that were too long' }),
  })
  .meta({ id: 'ContactBatchOutcome' });
export type ContactBatchOutcome = z.infer<typeof ContactBatchOutcome>;

const searched =
  'Start of a word of the name, the company, the email or the client reference, case ignored; whatever is no letter or digit parts words, so example.com finds all addresses there. Of digits also the start of the number, or its last 4 or more';

/** Which contacts are meant: in a listing, a dynamic list, a preview and a copy. All that is given must match. */
export const ContactFilter = z
  .object({
    search: text({ max: 200 }).nullish().meta({ description: searched }),
    tag: text({ max: longestTag })
      .nullish()
      .meta({ description: 'Contacts that have this tag, whatever its case' }),
    clientReference: text({ max: contactTextLengths.clientReference })
      .nullish()
      .meta({ description: 'Contacts with this reference' }),
  })
  .meta({ id: 'ContactFilter' });
export type ContactFilter = z.infer<typeof ContactFilter>;

export const ContactQuery = z.object({
  search: text({ max: 200 }).optional().meta({ description: searched }),
  tag: text({ max: longestTag })
    .optional()
    .meta({ description: 'Contacts that have this tag, whatever its case' }),
  clientReference: text({ max: contactTextLengths.clientReference })
    .optional()
    .meta({ description: 'Contacts with this reference' }),
  ...pageQuery,
});
export type ContactQuery = z.infer<typeof ContactQuery>;

export const ContactTagChanges = z
  .object({
    contactIds: z
      .array(NamedId('contact'))
      .min(1)
      .max(mostTaggedAtOnce)
      .meta({ description: 'Unknown ids are ignored' }),
    tags: tags.nullish().meta({ description: 'To add' }),
    removeTags: tags.nullish().meta({ description: 'To remove, whatever their case' }),
  })
  .meta({ id: 'ContactTagChanges' });
export type ContactTagChanges = z.infer<typeof ContactTagChanges>;
export const ContactTagQuery = z.object(pageQuery);
export type ContactTagQuery = z.infer<typeof ContactTagQuery>;

export const ContactTagOutcome = z
  .object({ updated: z.int32().meta({ description: 'Contacts that the ids name, changed or not' }) })
  .meta({ id: 'ContactTagOutcome' });

export const ContactTag = z
  .object({
    tag: z.string().meta({ description: 'As it is spelt' }),
    count: z.int32().meta({ description: 'Contacts that have it' }),
  })
  .meta({ id: 'ContactTag' });
export type ContactTag = z.infer<typeof ContactTag>;
export const ContactTagPage = pageOf(ContactTag, 'ContactTagPage');
