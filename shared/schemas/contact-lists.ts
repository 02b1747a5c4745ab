import { z } from 'zod';
import { Contact, ContactFilter } from './contacts.ts';
import { CreatedAt, change, Id, NamedId, pageOf, Timestamp, text, UpdatedAt } from './fields.ts';

const mostNamedAtOnce = 10_000;
export const mostLists = 1_000;

export const ContactListKind = z
  .enum(['static', 'dynamic', 'builtin'])
  .describe(
    'static: you add and remove contacts; dynamic: the contacts that match the filter of the list; builtin: all contacts',
  );
export type ContactListKind = z.infer<typeof ContactListKind>;

export const ContactList = z
  .object({
    id: Id('list'),
    name: z.string().describe('The name of the list'),
    description: z.string().nullable().describe('A note for yourself'),
    kind: ContactListKind,
    filter: z
      .object({
        search: z.string().nullable().describe('Words to find, as in the search of contacts'),
        tag: z.string().nullable().describe('Contacts that have this tag'),
        clientReference: z.string().nullable().describe('Contacts with this clientReference'),
      })
      .nullable()
      .describe('The filter of a dynamic list; null for other lists'),
    contactCount: z
      .int32()
      .describe(
        'How many contacts are in the list: for a dynamic list at contactCountAt, for any other list now',
      ),
    contactCountAt: Timestamp.nullable().describe(
      'For a dynamic list: when contactCount was exact. A GET of one list counts again if this is quick. If not, and after a listing, a job counts again when the count is more than a minute old and older than twenty times the duration of the count. null for a dynamic list whose first count is not finished: contactCount is then an estimate. null for any other list',
    ),
    copyInProgress: z
      .boolean()
      .describe(
        'true while contacts of other lists are being copied into this list: contactCount still grows',
      ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({
    id: 'ContactList',
    description: 'A list of contacts: those that were added, or those that match a filter',
  });
export type ContactList = z.infer<typeof ContactList>;

export const ContactListPage = pageOf(ContactList, 'ContactListPage');

const name = text({ min: 1, max: 100, blank: false }).describe('The name of the list');
const description = text({ max: 500, multiline: true }).describe('A note for yourself');
const filter = ContactFilter.nullish();

export const NewContactList = z
  .object({
    name,
    description: description.nullish(),
    kind: z.enum(['static', 'dynamic']).nullish().describe('The kind of the list; default static'),
    filter: filter.describe('The filter; only for a dynamic list, which must have a filter'),
  })
  .meta({ id: 'NewContactList', description: 'A new list: static, or dynamic with a filter' });
export type NewContactList = z.infer<typeof NewContactList>;

export const ContactListChanges = z
  .object({
    name: change('stays', name),
    description: change('stays', description, 'An empty text clears it'),
    kind: change(
      'stays',
      ContactListKind,
      'The kind cannot be changed; a request may contain the present kind',
    ),
    filter: change('stays', ContactFilter, 'Only for a dynamic list: replaces the whole filter'),
  })
  .meta({
    id: 'ContactListChanges',
    description:
      'The changes of a list. A field that is left out or null stays unchanged. An empty description clears the description',
  });
export type ContactListChanges = z.infer<typeof ContactListChanges>;

export const ContactListPreview = z
  .object({ filter: ContactFilter.describe('The filter, as for a dynamic list') })
  .meta({ id: 'ContactListPreview', description: 'A filter to be tested' });
export type ContactListPreview = z.infer<typeof ContactListPreview>;

export const ContactListPreviewOutcome = z
  .object({
    count: z.int32().describe('Contacts that match'),
    estimated: z
      .boolean()
      .describe(
        'true if there are too many contacts to count during the request. count is then an estimate from the newest contacts',
      ),
    contacts: z
      .array(Contact)
      .describe('The newest ten contacts that match, or fewer if the time of the search ends before'),
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
      .describe('The contacts to add. Unknown ids and contacts that are already in the list are skipped'),
    fromLists: listIds
      .min(1)
      .nullish()
      .describe(
        'Lists whose present members are copied once; later changes of these lists have no effect. An id that is not of a list of the workspace is refused',
      ),
    excludeLists: listIds
      .nullish()
      .describe(
        'Lists whose members are not copied. An id that is not of a list of the workspace is refused',
      ),
    ...ContactFilter.shape,
  })
  .meta({
    id: 'ContactListAddition',
    description:
      'Contacts to add: either contactIds or fromLists. With fromLists you may give excludeLists, search, tag and clientReference, which select among the members',
  });
export type ContactListAddition = z.infer<typeof ContactListAddition>;

export const ContactListAddOutcome = z
  .object({
    added: z.int32().describe('Contacts that were not in the list'),
    skipped: z
      .int32()
      .describe('Contacts that were already in the list, and ids that are not of contacts of this workspace'),
  })
  .meta({
    id: 'ContactListAddOutcome',
    description: 'How many contacts were added to the list, and how many were skipped',
  });
export type ContactListAddOutcome = z.infer<typeof ContactListAddOutcome>;

export const ContactListRemoval = z
  .object({ contactIds: contactIds.describe('The contacts to remove. Unknown ids are ignored') })
  .meta({
    id: 'ContactListRemoval',
    description: 'Contacts to remove from the list; they stay in the address book',
  });
export type ContactListRemoval = z.infer<typeof ContactListRemoval>;

export const ContactListRemoveOutcome = z
  .object({ removed: z.int32().describe('Contacts that were in the list') })
  .meta({ id: 'ContactListRemoveOutcome', description: 'How many contacts were removed from the list' });
