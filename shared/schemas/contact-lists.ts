import { z } from 'zod';
import { Contact, ContactFilter } from './contacts.ts';
import { CreatedAt, change, Id, NamedId, pageOf, Timestamp, text, UpdatedAt } from './fields.ts';

const mostNamedAtOnce = 10_000;
export const mostLists = 1_000;

export const ContactListKind = z
  .enum(['static', 'dynamic', 'builtin'])
  .describe(
    'static: contacts are added and removed; dynamic: the contacts that match its filter; builtin: all contacts',
  );
export type ContactListKind = z.infer<typeof ContactListKind>;

export const ContactList = z
  .object({
    id: Id('list'),
    name: z.string().describe('What the list is called'),
    description: z.string().nullable().describe('For yourself'),
    kind: ContactListKind,
    filter: z
      .object({
        search: z.string().nullable().describe('As in a search of contacts'),
        tag: z.string().nullable().describe('Contacts that have this tag'),
        clientReference: z.string().nullable().describe('Contacts with this reference'),
      })
      .nullable()
      .describe('Of a dynamic list; else null'),
    contactCount: z
      .int32()
      .describe('Of a dynamic list, as counted at contactCountAt; of any other list, as it is now'),
    contactCountAt: Timestamp.nullable().describe(
      'Of a dynamic list: when contactCount was right. To get one list has it counted anew where that is soon done; else, and after the listing, a job does that if the count is over a minute old, and as old as twenty times what it took. Null of a dynamic list that has not been counted to the end yet: contactCount is an estimate. Null of any other list',
    ),
    copyInProgress: z
      .boolean()
      .describe('Contacts of other lists are being copied into it: contactCount is rising'),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: 'ContactList', description: 'Contacts that were added, or that match a filter' });
export type ContactList = z.infer<typeof ContactList>;

export const ContactListPage = pageOf(ContactList, 'ContactListPage');

const name = text({ min: 1, max: 100, blank: false }).describe('What the list is called');
const description = text({ max: 500, multiline: true }).describe('For yourself');
const filter = ContactFilter.nullish();

export const NewContactList = z
  .object({
    name,
    description: description.nullish(),
    kind: z.enum(['static', 'dynamic']).nullish().describe('Default static'),
    filter: filter.describe('Of a dynamic list, which must have one'),
  })
  .meta({ id: 'NewContactList', description: 'A list to be made: static, or dynamic with a filter' });
export type NewContactList = z.infer<typeof NewContactList>;

export const ContactListChanges = z
  .object({
    name: change('stays', name),
    description: change('stays', description, 'An empty text clears it'),
    kind: change('stays', ContactListKind, 'Cannot be changed; as it is, it may be sent back'),
    filter: change('stays', ContactFilter, 'Of a dynamic list; it replaces all of the filter'),
  })
  .meta({
    id: 'ContactListChanges',
    description: 'What is left out or null stays; an empty description clears',
  });
export type ContactListChanges = z.infer<typeof ContactListChanges>;

export const ContactListPreview = z
  .object({ filter: ContactFilter.describe('As a dynamic list would have it') })
  .meta({ id: 'ContactListPreview', description: 'A filter to be tried' });
export type ContactListPreview = z.infer<typeof ContactListPreview>;

export const ContactListPreviewOutcome = z
  .object({
    count: z.int32().describe('Contacts that match'),
    estimated: z
      .boolean()
      .describe(
        'There are too many to be counted while the request waits: count says how many there are if the rest is like the newest',
      ),
    contacts: z
      .array(Contact)
      .describe('The newest ten, or fewer where a search of limited time has not come to as many'),
  })
  .meta({
    id: 'ContactListPreviewOutcome',
    description: 'How many contacts the filter finds, and the first of them',
  });
export type ContactListPreviewOutcome = z.infer<typeof ContactListPreviewOutcome>;

const contactIds = z.array(NamedId('contact')).min(1).max(mostNamedAtOnce);
const listIds = z.array(NamedId('list')).max(mostLists);

export const ContactListAddition = z
  .object({
    contactIds: contactIds
      .nullish()
      .describe('Unknown ids and contacts that are in the list already are skipped'),
    fromLists: listIds
      .min(1)
      .nullish()
      .describe(
        'Lists whose current members are copied once; later changes of theirs are not followed. An id of no list of the workspace is refused',
      ),
    excludeLists: listIds
      .nullish()
      .describe('Lists whose members are left out of the copy. An id of no list of the workspace is refused'),
    ...ContactFilter.shape,
  })
  .meta({
    id: 'ContactListAddition',
    description:
      'Either contactIds or fromLists. With fromLists go excludeLists, search, tag and clientReference, which choose among the members',
  });
export type ContactListAddition = z.infer<typeof ContactListAddition>;

export const ContactListAddOutcome = z
  .object({
    added: z.int32().describe('Contacts that were not in the list'),
    skipped: z.int32().describe('In the list already, or not contacts of this workspace'),
  })
  .meta({
    id: 'ContactListAddOutcome',
    description: 'How many contacts the list has more now, and how many it had already',
  });
export type ContactListAddOutcome = z.infer<typeof ContactListAddOutcome>;

export const ContactListRemoval = z
  .object({ contactIds: contactIds.describe('Unknown ids are ignored') })
  .meta({
    id: 'ContactListRemoval',
    description: 'Which contacts leave the list; they stay in the address book',
  });
export type ContactListRemoval = z.infer<typeof ContactListRemoval>;

export const ContactListRemoveOutcome = z
  .object({ removed: z.int32().describe('Contacts that were in the list') })
  .meta({ id: 'ContactListRemoveOutcome', description: 'How many contacts left the list' });
