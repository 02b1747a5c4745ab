import * as contactBatches from '../../shared/domain/contacts/batches.ts';
import * as contacts from '../../shared/domain/contacts/contacts.ts';
import * as contactErasure from '../../shared/domain/contacts/erasure.ts';
import * as contactTags from '../../shared/domain/contacts/tags.ts';
import {
  Contact,
  ContactBatch,
  ContactBatchOutcome,
  ContactChanges,
  ContactPage,
  ContactQuery,
  ContactTagChanges,
  ContactTagOutcome,
  ContactTagPage,
  NewContact,
} from '../../shared/schemas/contacts.ts';
import { Id, PageQuery } from '../../shared/schemas/fields.ts';
import { resource, Unfinished } from '../endpoint.ts';

const endpoint = resource('Contacts', { id: Id('contact') });

export default [
  endpoint({
    route: 'POST /v2/contacts',
    id: 'createContact',
    summary: 'Create a contact',
    description:
      'The number is stored in E.164. A workspace has one contact for each number: where there is one already, the answer is number_taken; saveContacts would update that contact instead. suppressed says whether the number is on the suppression list already.',
    scope: 'contacts.write',
    body: NewContact,
    examples: [
      { name: 'minimal', summary: 'A number', body: { number: '+447700900151' } },
      {
        name: 'named',
        summary: 'A contact with a name and tags',
        body: {
          number: '+447700900152',
          firstName: 'Ada',
          lastName: 'Lovelace',
          email: 'ada@example.com',
          tags: ['vip'],
        },
      },
    ],
    status: 201,
    response: Contact,
    problems: ['number_taken'],
    faults: ({ body }) => contacts.faultsOf(body),
    handle: ({ caller, body }) => contacts.create(caller, body),
  }),
  endpoint({
    route: 'GET /v2/contacts',
    id: 'listContacts',
    summary: 'List and search contacts, newest first',
    description:
      'For each page a search looks at so many contacts at most: where few match, a page may be short, or empty, and nextCursor goes on from there. A workspace may run a few searches at the same time; further ones wait a little, and are then refused with rate_limited.',
    scope: 'contacts.read',
    query: ContactQuery,
    response: ContactPage,
    handle: ({ caller, query }) => contacts.list(caller, query),
  }),
  endpoint({
    route: 'POST /v2/contacts/batch',
    id: 'saveContacts',
    summary: 'Create and update up to 1,000 contacts',
    description:
      'A contact is known by its number: one that exists is updated, and what a row leaves out, or gives as null, stays; an empty text clears. Rows that cannot be saved are told by their place, counting from 0, and the rest are saved, all of them or, when the request is refused, none. Texts that are too long are shortened.',
    scope: 'contacts.write',
    body: ContactBatch,
    examples: [
      {
        name: 'minimal',
        summary: 'Two contacts',
        body: {
          contacts: [
            { number: '+447700900153', firstName: 'Grace' },
            { number: '+447700900154', firstName: 'Alan' },
          ],
        },
      },
    ],
    bodyLimitBytes: 8 * 1024 * 1024,
    // A client may send contacts back as it has read them, with all of their tags; the tags are ignored here.
    bodyLimitValues: 200_000,
    response: ContactBatchOutcome,
    problems: ['contacts_conflict'],
    prepare: ({ body }) => contactBatches.prepare(body),
    handle: ({ caller, prepared }) => contactBatches.save(caller, prepared),
  }),
  // Stands before the operations on one contact: otherwise `tags` would be taken for the id of a contact.
  endpoint({
    route: 'GET /v2/contacts/tags',
    id: 'listContactTags',
    summary: 'List tags with how many contacts have them, in alphabetical order',
    description:
      'Tags that differ in case only are one tag, which is shown as it was spelt first. A tag is in the list as long as a contact has it.',
    scope: 'contacts.read',
    query: PageQuery,
    response: ContactTagPage,
    handle: ({ caller, query }) => contactTags.list(caller, query),
  }),
  endpoint({
    route: 'POST /v2/contacts/tags',
    id: 'changeContactTags',
    summary: 'Add tags to contacts and remove others',
    description:
      'Removal comes first, so that a tag can be given another spelling. A contact that has a tag already keeps it as it is spelt.',
    scope: 'contacts.write',
    body: ContactTagChanges,
    examples: [
      {
        name: 'minimal',
        summary: 'Tag contacts',
        body: { contactIds: ['contact_01h455vb4pex5vsknk084sn02q'], tags: ['vip'] },
      },
    ],
    response: ContactTagOutcome,
    faults: ({ body }) => contactTags.faultsOfChange(body),
    handle: ({ caller, body }) => contactTags.change(caller, body),
  }),
  endpoint({
    route: 'GET /v2/contacts/{id}',
    id: 'getContact',
    summary: 'Get one contact',
    description:
      'Whether the number is suppressed is looked up for this answer; while it is, no text is sent to it. A contact that was erased is not_found.',
    scope: 'contacts.read',
    response: Contact,
    handle: ({ caller, params }) => contacts.find(caller, params.id),
  }),
  endpoint({
    route: 'PATCH /v2/contacts/{id}',
    id: 'updateContact',
    summary: 'Change a contact',
    description:
      'What is left out or null stays, an empty text clears a field, and tags take the place of all tags. A new number that another contact has is refused with number_taken. The contact stays in its static lists; a dynamic list has it as long as it matches the filter.',
    scope: 'contacts.write',
    body: ContactChanges,
    examples: [{ name: 'minimal', summary: 'Another company', body: { company: 'Acme' } }],
    response: Contact,
    problems: ['number_taken'],
    faults: ({ body }) => contacts.faultsOf(body),
    handle: ({ caller, params, body }) => contacts.update(caller, params.id, body),
  }),
  endpoint({
    route: 'DELETE /v2/contacts/{id}',
    id: 'deleteContact',
    summary: 'Erase a contact, with its tags and its places in lists; messages forget whose they were',
    description:
      'It cannot be undone. Texts to and from the number stay, but their contactId is null from then on. A suppression of the number stays too, so that it is still not sent to.',
    scope: 'contacts.write',
    handle: async ({ caller, params }) => {
      const erasure = await contacts.remove(caller, params.id);
      return new Unfinished(undefined, {
        withinMs: contactErasure.erasesWithinMs,
        finish: () => contactErasure.eraseTextsInRequest(erasure),
      });
    },
  }),
];
