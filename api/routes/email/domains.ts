import * as emailDomains from '../../../shared/domain/email/domains/domains.ts';
import { EmailDomain, EmailDomainPage, NewEmailDomain } from '../../../shared/schemas/email/domains.ts';
import { Id, PageQuery } from '../../../shared/schemas/fields.ts';
import { resource } from '../../endpoint.ts';

const endpoint = resource('Email domains', { id: Id('domain') });

export default [
  endpoint({
    route: 'POST /v2/email/domains',
    id: 'createEmailDomain',
    summary: 'Add a sending domain',
    description:
      'The answer says what to publish in the DNS of the domain. The DKIM record is required: once it is seen, the domain is verified and may send. It is looked for every 5 minutes, for 14 days, and whenever you ask.',
    scope: 'domains.write',
    body: NewEmailDomain,
    examples: [{ name: 'minimal', summary: 'A domain', body: { name: 'mail.acme.example' } }],
    status: 201,
    response: EmailDomain,
    problems: ['name_taken', 'limit_exceeded'],
    prepare: ({ caller, body }) => emailDomains.makeKey(caller, body),
    handle: ({ caller, prepared }) => emailDomains.add(caller, prepared),
  }),
  endpoint({
    route: 'GET /v2/email/domains',
    id: 'listEmailDomains',
    summary: 'List sending domains, newest first',
    description:
      'Each comes with its status and with what the last look at its DNS found; this request looks at nothing. A domain may send while its status is verified or warning. A workspace can add up to 50 domains.',
    scope: 'domains.read',
    query: PageQuery,
    response: EmailDomainPage,
    handle: ({ caller, query }) => emailDomains.list(caller, query),
  }),
  endpoint({
    route: 'GET /v2/email/domains/{id}',
    id: 'getEmailDomain',
    summary: 'Get one sending domain',
    description:
      'The records say what to publish in the DNS, and what the last look found of each; verifyEmailDomain looks again at once. A pending domain is looked at every 5 minutes and fails after 14 days. A verified domain whose DKIM record is gone has the status warning and may send for 24 hours more.',
    scope: 'domains.read',
    response: EmailDomain,
    handle: ({ caller, params }) => emailDomains.find(caller, params.id),
  }),
  endpoint({
    route: 'DELETE /v2/email/domains/{id}',
    id: 'deleteEmailDomain',
    summary: 'Remove a sending domain',
    description: 'Email of it that is queued fails when it is due.',
    scope: 'domains.write',
    handle: ({ caller, params }) => emailDomains.remove(caller, params.id),
  }),
  endpoint({
    route: 'POST /v2/email/domains/{id}/verify',
    id: 'verifyEmailDomain',
    summary: 'Look at the DNS of a sending domain now',
    description:
      'The answer is the domain as it is after that. Where the name servers give no answer, each record says so and the status stays as it was.',
    scope: 'domains.write',
    response: EmailDomain,
    prepare: ({ caller, params }) => emailDomains.findRecords(caller.workspaceId, params.id),
    handle: ({ caller, params, prepared }) => emailDomains.verify(caller.workspaceId, params.id, prepared),
  }),
];
