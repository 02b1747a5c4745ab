import { config } from '../../shared/config/config.ts';
import * as contactLists from '../../shared/domain/contact-lists/contact-lists.ts';
import {
  ContactList,
  ContactListAddition,
  ContactListAddOutcome,
  ContactListChanges,
  ContactListPage,
  ContactListPreview,
  ContactListPreviewOutcome,
  ContactListRemoval,
  ContactListRemoveOutcome,
  NewContactList,
} from '../../shared/schemas/contact-lists.ts';
import { ContactPage } from '../../shared/schemas/contacts.ts';
import { Id, PageQuery } from '../../shared/schemas/fields.ts';
import { Other, resource, Unfinished } from '../endpoint.ts';

const endpoint = resource('Contact lists', { id: Id('list') });
const readContacts = ['lists.read', 'contacts.read'] as const;

export default [
  endpoint({
    route: 'POST /v2/contact-lists',
    id: 'createContactList',
    summary: 'Create a contact list',
    description:
      'A static list starts empty and takes contacts by addContactListContacts. A dynamic list must have a filter, and the contacts that match it are in the list from then on without being added. A dynamic list is counted before the answer where that is soon done; otherwise contactCountAt is null and a job counts it. A workspace has at most 1,000 lists, and two of them may have the same name.',
    scope: 'lists.write',
    body: NewContactList,
    examples: [
      { name: 'minimal', summary: 'A list to add contacts to', body: { name: 'Customers' } },
      {
        name: 'dynamic',
        summary: 'Contacts with a tag',
        body: { name: 'Very important', kind: 'dynamic', filter: { tag: 'vip' } },
      },
    ],
    status: 201,
    response: ContactList,
    problems: ['limit_exceeded'],
    faults: ({ body }) => contactLists.faultsOfNew(body),
    prepare: ({ caller, body }) => contactLists.prepare(caller, body),
    handle: ({ caller, body, prepared }) => contactLists.create(caller, body, prepared),
  }),
  endpoint({
    route: 'GET /v2/contact-lists',
    id: 'listContactLists',
    summary: 'List contact lists, newest first; the built-in list of all contacts comes last',
    description:
      'Nothing is counted for it: contactCountAt says when the contacts of a dynamic list were. What is old is then counted by a job.',
    scope: 'lists.read',
    query: PageQuery,
    response: ContactListPage,
    handle: ({ caller, query }) => contactLists.list(caller, query),
  }),
  endpoint({
    route: 'POST /v2/contact-lists/preview',
    id: 'previewContactList',
    summary: 'See what a dynamic list would hold',
    description:
      'Nothing is stored. The answer says how many contacts match the filter and shows the newest ten of them; where there are too many to be counted while you wait, estimated is true. A workspace may run a few searches at the same time; further ones wait a little, and are then refused with rate_limited.',
    scope: readContacts,
    body: ContactListPreview,
    examples: [{ name: 'minimal', summary: 'Contacts with a tag', body: { filter: { tag: 'vip' } } }],
    response: ContactListPreviewOutcome,
    prepare: ({ caller, body }) => contactLists.preview(caller, body),
    handle: ({ prepared }) => prepared,
  }),
  endpoint({
    route: 'GET /v2/contact-lists/{id}',
    id: 'getContactList',
    summary: 'Get one contact list',
    description:
      'A dynamic list is counted anew for this answer where that is soon done; contactCountAt says when the count was right. While copyInProgress is true, contacts of other lists are still being added. The contacts themselves are listed by listContactListContacts.',
    scope: 'lists.read',
    response: ContactList,
    handle: ({ caller, params }) => contactLists.find(caller, params.id),
  }),
  endpoint({
    route: 'PATCH /v2/contact-lists/{id}',
    id: 'updateContactList',
    summary: 'Change a contact list',
    description: 'A list stays of its kind. The built-in list cannot be changed.',
    scope: 'lists.write',
    body: ContactListChanges,
    examples: [{ name: 'minimal', summary: 'Another name', body: { name: 'Customers in London' } }],
    response: ContactList,
    problems: ['list_not_static'],
    faults: ({ caller, params, body }) => contactLists.faultsOfChange(caller, params.id ?? '', body),
    prepare: ({ caller, params, body }) => contactLists.prepareChange(caller, params.id, body),
    handle: ({ caller, params, body, prepared }) => contactLists.change(caller, params.id, body, prepared),
  }),
  endpoint({
    route: 'DELETE /v2/contact-lists/{id}',
    id: 'deleteContactList',
    summary: 'Delete a contact list; its contacts stay',
    description:
      'A copy into it ends. The built-in list cannot be deleted, nor one whose contacts a batch of text messages leaves out (excludeLists) while some of its messages are still to be made, or a copy in progress leaves out.',
    scope: 'lists.write',
    problems: ['list_not_static', 'in_use'],
    handle: ({ caller, params }) => contactLists.remove(caller, params.id),
  }),
  endpoint({
    route: 'GET /v2/contact-lists/{id}/contacts',
    id: 'listContactListContacts',
    summary: 'List the contacts of a list, newest first',
    description: 'Those of a dynamic list are searched for, within the limits of a search of contacts.',
    scope: readContacts,
    query: PageQuery,
    response: ContactPage,
    handle: ({ caller, params, query }) => contactLists.contacts(caller, params.id, query),
  }),
  endpoint({
    route: 'POST /v2/contact-lists/{id}/contacts',
    id: 'addContactListContacts',
    summary: 'Add contacts to a static list',
    description:
      'Contacts that are named by contactIds are in the list when the answer comes. Members of other lists (fromLists) are copied by a job, which the request waits for; what takes longer is answered with 202 and the counts so far, and the list shows copyInProgress until it is done. Members that are left out by excludeLists or by a filter are not counted as skipped; a contact that is in two of the lists is added once and skipped once.',
    scope: 'lists.write',
    body: ContactListAddition,
    needsBody: true,
    examples: [
      {
        name: 'minimal',
        summary: 'By their ids',
        body: { contactIds: ['contact_01h455vb4pex5vsknk084sn02q'] },
      },
    ],
    otherStatus: { status: 202, description: 'The copy goes on: the counts so far' },
    response: ContactListAddOutcome,
    problems: ['list_not_static', 'list_copy_in_progress'],
    faults: ({ caller, body }) => contactLists.faultsOfAddition(caller, body),
    handle: async ({ caller, params, body }) => {
      const { outcome, copyId } = await contactLists.add(caller, params.id, body);
      if (outcome) return outcome;
      return new Unfinished(new Other({ added: 0, skipped: 0 }), {
        withinMs: config.LIST_COPY_WAIT_SECONDS * 1000,
        finish: async () => {
          const { isRunning, ...counts } = await contactLists.waitForCopy(caller, copyId);
          return isRunning ? new Other(counts) : counts;
        },
      });
    },
  }),
  endpoint({
    route: 'DELETE /v2/contact-lists/{id}/contacts',
    id: 'removeContactListContacts',
    summary: 'Remove contacts from a static list',
    description:
      'The contacts stay in the address book and in other lists. removed counts the contacts that were in the list; ids of others, and unknown ones, are ignored, so it does no harm to repeat the request. A dynamic list and the built-in list are refused with list_not_static.',
    scope: 'lists.write',
    body: ContactListRemoval,
    examples: [
      {
        name: 'minimal',
        summary: 'By their ids',
        body: { contactIds: ['contact_01h455vb4pex5vsknk084sn02q'] },
      },
    ],
    response: ContactListRemoveOutcome,
    problems: ['list_not_static'],
    handle: ({ caller, params, body }) => contactLists.removeContacts(caller, params.id, body),
  }),
];
