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
  company: 'Where they work',
  email: 'An address; it is not checked, and nothing is sent to it',
  clientReference: 'Your own reference',
} as const satisfies Record<ContactText, string>;
const eachText = <Field>(fieldOf: (name: ContactText) => Field) =>
  Object.fromEntries(contactTexts.map((name) => [name, fieldOf(name)])) as Record<ContactText, Field>;

export const Contact = z
  .object({
    id: Id('contact'),
    number: z.string().meta({ description: 'E.164', example: '+447700900123' }),
    country: nullableText.describe('ISO 3166-1 alpha-2 of the number; null when undeterminable'),
    ...eachText((name) => nullableText.describe(meanings[name])),
    tags: z.array(z.string()).describe('Sorted'),
    suppressed: z.boolean().describe('The number is on the suppression list: sends to it are refused'),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: 'Contact', description: 'A person of the address book, known by a number' });
export type Contact = z.infer<typeof Contact>;

export const ContactPage = pageOf(Contact, 'ContactPage');

const number = text({ max: 40 }).meta({
  description: 'Any common format; a number without a country code is of the UK',
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
    `At most ${mostTags}; surrounding spaces are taken off, and what is blank, longer than ${longestTag} characters or there already, whatever its case, is dropped`,
  );
const texts = eachText((name) => text({ max: contactTextLengths[name] }).describe(meanings[name]));

export const NewContact = z
  .object({
    number: number.check(z.minLength(1)),
    ...eachText((name) => texts[name].nullish()),
    tags: tags.nullish(),
  })
  .meta({ id: 'NewContact', description: 'A contact to be made' });
export type NewContact = z.infer<typeof NewContact>;

export const ContactChanges = z
  .object({
    ...eachText((name) => change('stays', texts[name], `${meanings[name]}. An empty text clears it`)),
    number: change('stays', number),
    tags: change('stays', tags),
  })
  .meta({
    id: 'ContactChanges',
    description: 'What is left out or null stays; an empty text or list clears',
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
            description: 'Any common format; a number without a country code is of the UK',
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
    description: 'Up to 1,000 rows for the address book, each a contact that is new or known by its number',
  });
export type ContactBatch = z.infer<typeof ContactBatch>;
export type ContactRow = ContactBatch['contacts'][number];

export const ContactBatchOutcome = z
  .object({
    created: z.int32().describe('Contacts that are new'),
    updated: z.int32().describe('Contacts that were there'),
    errors: z
      .array(
        z.object({
          index: z.int32().describe('The place of the row, counting from 0'),
          error: z.string().describe('What is wrong with it'),
        }),
      )
      .describe('Rows that were not saved'),
    truncations: z
      .array(
        z.object({
          field: z.string().describe('Which text'),
          maxLength: z.int32().describe('How many characters were kept'),
          count: z.int32().describe('Rows shortened'),
          exampleRows: z.array(z.int32()).describe('Up to five, counting from 0'),
        }),
      )
      .describe('Texts that were too long'),
  })
  .meta({ id: 'ContactBatchOutcome', description: 'What became of each row of the batch' });
export type ContactBatchOutcome = z.infer<typeof ContactBatchOutcome>;

const searched =
  'Start of a word of the name, the company, the email or the client reference, case ignored; whatever is no letter or digit parts words, so example.com finds all addresses there. Of digits also the start of the number, or its last 4 or more';

/** Selects contacts for a listing, a dynamic list, a preview or a copy. A contact must match every given field. */
export const ContactFilter = z
  .object({
    search: text({ max: 200 }).nullish().describe(searched),
    tag: text({ max: longestTag }).nullish().describe('Contacts that have this tag, whatever its case'),
    clientReference: text({ max: contactTextLengths.clientReference })
      .nullish()
      .describe('Contacts with this reference'),
  })
  .meta({
    id: 'ContactFilter',
    description: 'Which contacts a dynamic list has; a contact must fit all of it',
  });
export type ContactFilter = z.infer<typeof ContactFilter>;

export const ContactQuery = z.object({
  search: text({ max: 200 }).optional().describe(searched),
  tag: text({ max: longestTag }).optional().describe('Contacts that have this tag, whatever its case'),
  clientReference: text({ max: contactTextLengths.clientReference })
    .optional()
    .describe('Contacts with this reference'),
  ...pageQuery,
});
export type ContactQuery = z.infer<typeof ContactQuery>;

export const ContactTagChanges = z
  .object({
    contactIds: z.array(NamedId('contact')).min(1).max(mostTaggedAtOnce).describe('Unknown ids are ignored'),
    tags: tags.nullish().describe('To add'),
    removeTags: tags.nullish().describe('To remove, whatever their case'),
  })
  .meta({ id: 'ContactTagChanges', description: 'Tags that contacts get and lose' });
export type ContactTagChanges = z.infer<typeof ContactTagChanges>;

export const ContactTagOutcome = z
  .object({ updated: z.int32().describe('Contacts that the ids name, changed or not') })
  .meta({ id: 'ContactTagOutcome', description: 'How many contacts the ids are of' });

export const ContactTag = z
  .object({
    tag: z.string().describe('As it is spelt'),
    count: z.int32().describe('Contacts that have it'),
  })
  .meta({ id: 'ContactTag', description: 'A tag, and how many contacts have it' });
export type ContactTag = z.infer<typeof ContactTag>;
export const ContactTagPage = pageOf(ContactTag, 'ContactTagPage');
