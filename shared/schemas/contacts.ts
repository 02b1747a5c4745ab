import { z } from 'zod';
import { change, controls, Id, NamedId, pageOf, pageQuery, Timestamp, text } from './fields.ts';

/** The longest each text of a contact may be, in characters (spec §8). */
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
export const mostTaggedAtOnce = 10_000;

const nullableText = z.string().nullable();

export const Contact = z
  .object({
    id: Id('contact'),
    number: z.string().meta({ description: 'E.164', example: '+447700900123' }),
    country: nullableText.meta({ description: 'ISO 3166-1 alpha-2 of the number; null when undeterminable' }),
    firstName: nullableText,
    lastName: nullableText,
    company: nullableText,
    email: nullableText,
    clientReference: nullableText,
    tags: z.array(z.string()).meta({ description: 'Sorted' }),
    suppressed: z
      .boolean()
      .meta({ description: 'The number is on the suppression list: sends to it are refused' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Contact' });
export type Contact = z.infer<typeof Contact>;

export const ContactPage = pageOf(Contact, 'ContactPage');

const number = text({ max: 40 }).meta({
  description: 'Any common format; a number without a country code is of the UK',
  example: '07700 900123',
});
/** What is wrong with a text of one line that may be of any length. */
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
  firstName: text({ max: contactTextLengths.firstName }),
  lastName: text({ max: contactTextLengths.lastName }),
  company: text({ max: contactTextLengths.company }),
  email: text({ max: contactTextLengths.email }),
  clientReference: text({ max: contactTextLengths.clientReference }),
};
const changedText = 'An empty text clears it';

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
    firstName: change('stays', texts.firstName, changedText),
    lastName: change('stays', texts.lastName, changedText),
    company: change('stays', texts.company, changedText),
    email: change('stays', texts.email, changedText),
    clientReference: change('stays', texts.clientReference, changedText),
    number: change('stays', number),
    tags: change('stays', tags),
  })
  .meta({
    id: 'ContactChanges',
    description: 'What is left out or null stays; an empty text or list clears',
  });
export type ContactChanges = z.infer<typeof ContactChanges>;

// What is wrong with one row is told in the outcome, and longer texts are shortened.
const rowText = z.string().nullish();

export const ContactBatch = z
  .object({
    contacts: z
      .array(
        z.object({
          number: z.string().min(1, 'must not be empty').meta({ example: '07700 900123' }),
          firstName: rowText,
          lastName: rowText,
          company: rowText,
          email: rowText,
          clientReference: rowText,
        }),
      )
      .min(1)
      .max(1_000),
  })
  .meta({ id: 'ContactBatch' });
export type ContactBatch = z.infer<typeof ContactBatch>;
export type ContactRow = ContactBatch['contacts'][number];

export const ContactBatchOutcome = z
  .object({
    created: z.int32(),
    updated: z.int32(),
    errors: z.array(z.object({ index: z.int32(), error: z.string() })),
    truncations: z.array(
      z.object({
        field: z.string(),
        maxLength: z.int32(),
        count: z.int32().meta({ description: 'Rows shortened' }),
        exampleRows: z.array(z.int32()).meta({ description: 'Up to five, counting from 0' }),
      }),
    ),
  })
  .meta({ id: 'ContactBatchOutcome' });
export type ContactBatchOutcome = z.infer<typeof ContactBatchOutcome>;

/** Which contacts are meant: in a listing, a dynamic list, a preview and a copy. All that is given must match. */
export const ContactFilter = z
  .object({
    search: text({ max: 200 }).nullish().meta({
      description:
        'Start of a word of the name, the company, the email or the client reference, case ignored; whatever is no letter or digit parts words, so example.com finds all addresses there. Of digits also the start of the number, or its last 4 or more',
    }),
    tag: text({ max: longestTag }).nullish(),
    clientReference: text({ max: contactTextLengths.clientReference }).nullish(),
  })
  .meta({ id: 'ContactFilter' });
export type ContactFilter = z.infer<typeof ContactFilter>;

export const ContactQuery = z.object({
  search: text({ max: 200 }).optional(),
  tag: text({ max: longestTag }).optional(),
  clientReference: text({ max: contactTextLengths.clientReference }).optional(),
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

export const ContactTag = z.object({ tag: z.string(), count: z.int32() }).meta({ id: 'ContactTag' });
export type ContactTag = z.infer<typeof ContactTag>;
export const ContactTagPage = pageOf(ContactTag, 'ContactTagPage');
