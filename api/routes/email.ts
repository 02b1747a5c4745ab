import { z } from 'zod';
import * as email from '../../shared/domain/email.ts';
import { Email, EmailFilter, EmailPage, NewEmail } from '../../shared/schemas/email.ts';
import { RecordEventPage } from '../../shared/schemas/events.ts';
import { Id } from '../../shared/schemas/fields.ts';
import { endpoint } from '../endpoint.ts';

const tag = 'Email';
const params = z.object({ id: Id('email') });
const bodyLimitBytes = 42 * 1024 * 1024;

export default [
  endpoint({
    method: 'post',
    path: '/v2/email',
    id: 'sendEmail',
    tag,
    summary: 'Send one email, now or at scheduledAt',
    scope: 'email.send',
    body: NewEmail,
    bodyLimitBytes,
    largeTexts: [['attachments', '*', 'content']],
    status: 201,
    response: Email,
    location: (sent) => `/v2/email/${sent.id}`,
    problems: ['sending_blocked', 'email_not_queued', 'limit_exceeded'],
    faults: ({ caller, body }) => email.faultsOf(caller, body),
    prepare: ({ caller, body }) => email.prepare(caller, body),
    handle: ({ caller, prepared }) => email.send(caller, prepared),
  }),
  endpoint({
    method: 'get',
    path: '/v2/email',
    id: 'listEmails',
    tag,
    summary: 'List emails, newest first',
    scope: 'email.read',
    query: EmailFilter,
    status: 200,
    response: EmailPage,
    problems: [],
    handle: ({ caller, query }) => email.list(caller, query),
  }),
  endpoint({
    method: 'get',
    path: '/v2/email/{id}',
    id: 'getEmail',
    tag,
    summary: 'Get one email',
    scope: 'email.read',
    params,
    status: 200,
    response: Email,
    problems: [],
    handle: ({ caller, params }) => email.find(caller, params.id),
  }),
  endpoint({
    method: 'get',
    path: '/v2/email/{id}/events',
    id: 'listEmailEvents',
    tag,
    summary: 'List the events of one email, oldest first',
    scope: 'email.read',
    params,
    status: 200,
    response: RecordEventPage,
    problems: [],
    handle: ({ caller, params, version }) => email.listEvents(caller, params.id, version),
  }),
  endpoint({
    method: 'delete',
    path: '/v2/email/{id}',
    id: 'cancelEmail',
    tag,
    summary: 'Cancel a scheduled email that still waits to send',
    scope: 'email.send',
    params,
    status: 200,
    response: Email,
    problems: ['not_cancellable'],
    handle: ({ caller, params }) => email.cancel(caller, params.id),
  }),
];
