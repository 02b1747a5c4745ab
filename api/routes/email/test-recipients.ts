import * as testRecipients from '../../../shared/domain/email/test-recipients/test-recipients.ts';
import {
  NewTestRecipient,
  TestRecipient,
  TestRecipientPage,
} from '../../../shared/schemas/email/test-recipients.ts';
import { Id } from '../../../shared/schemas/fields.ts';
import { Other, resource } from '../../endpoint.ts';

const endpoint = resource('Email test recipients', { id: Id('testrecipient') });

export default [
  endpoint({
    route: 'GET /v2/email/test-recipients',
    id: 'listEmailTestRecipients',
    summary: 'List the test recipients of the workspace, oldest first',
    description:
      'All of them come in one page: nextCursor is always null, and there are at most 100. The shared test sender reaches those whose verified is true.',
    scope: 'domains.read',
    response: TestRecipientPage,
    handle: ({ caller }) => testRecipients.list(caller),
  }),
  endpoint({
    route: 'POST /v2/email/test-recipients',
    id: 'createEmailTestRecipient',
    summary: 'Add a test recipient',
    description:
      'Sends a confirmation link to the address, which works for 7 days. Until it has been followed, the shared test sender does not reach the address. An address that is there already and has not confirmed gets a new link, at most once a minute and five times a day. Where the operator has set no sender for such mail, the answer is service_unavailable.',
    scope: 'domains.write',
    body: NewTestRecipient,
    examples: [{ name: 'minimal', summary: 'An address', body: { email: 'ada@example.com' } }],
    status: 201,
    otherStatus: { status: 200, description: 'The address was there already: the existing recipient' },
    response: TestRecipient,
    problems: ['limit_exceeded'],
    handle: async ({ caller, body }) => {
      const { recipient, isNew } = await testRecipients.add(caller, body);
      return isNew ? recipient : new Other(recipient);
    },
  }),
  endpoint({
    route: 'GET /v2/email/test-recipients/{id}',
    id: 'getEmailTestRecipient',
    summary: 'Get one test recipient',
    description:
      'It is verified once the link that was mailed to the address has been followed. To have another link sent, add the address again.',
    scope: 'domains.read',
    response: TestRecipient,
    handle: ({ caller, params }) => testRecipients.find(caller, params.id),
  }),
  endpoint({
    route: 'DELETE /v2/email/test-recipients/{id}',
    id: 'deleteEmailTestRecipient',
    summary: 'Remove a test recipient: the shared test sender no longer reaches it',
    description:
      'An email from the shared test sender that still waits for the address fails when it is due. The address can be added again, and then has to confirm again.',
    scope: 'domains.write',
    handle: ({ caller, params }) => testRecipients.remove(caller, params.id),
  }),
];
