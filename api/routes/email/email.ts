import { z } from 'zod';
import * as email from '../../../shared/domain/email/email.ts';
import { Email, EmailFilter, EmailPage, NewEmail } from '../../../shared/schemas/email/email.ts';
import { RecordEventPage } from '../../../shared/schemas/events.ts';
import { Id } from '../../../shared/schemas/fields.ts';
import { dayAfter, type Example, endpoint } from '../../endpoint.ts';

const tag = 'Email';
const params = z.object({ id: Id('email') });
const bodyLimitBytes = 42 * 1024 * 1024;

/** The first goes out at once; the others each show one more thing that an email can have. */
const examples: readonly Example<typeof NewEmail>[] = [
  {
    name: 'minimal',
    summary: 'An email',
    body: {
      sender: 'Demo <hello@demo.example>',
      recipient: 'ada@example.com',
      subject: 'Hello',
      content: { html: '<h1>Hello</h1><p>It works.</p>', text: 'Hello, it works.' },
    },
  },
  {
    name: 'data',
    summary: 'Merge data',
    body: {
      sender: 'Demo <hello@demo.example>',
      recipient: 'Ada <ada@example.com>',
      subject: 'Your order {{ order.number }}',
      content: { text: 'Dear {{ name }}, order {{ order.number }} is on its way.' },
      template: { data: { name: 'Ada', order: { number: 7 } } },
    },
  },
  {
    name: 'template',
    summary: 'A stored template',
    body: {
      sender: 'Demo <hello@demo.example>',
      recipient: 'ada@example.com',
      subject: 'Welcome, {{ name }}',
      template: { name: 'welcome', data: { name: 'Ada' } },
    },
  },
  {
    name: 'attachment',
    summary: 'An attachment',
    body: {
      sender: 'Demo <hello@demo.example>',
      recipient: 'ada@example.com',
      subject: 'Your invoice',
      content: { text: 'The invoice is attached.' },
      attachments: [
        { filename: 'invoice.txt', contentType: 'text/plain', content: 'T25lIHBhcmNlbDogMTIuMzQgR0JQCg==' },
      ],
    },
  },
  {
    name: 'scheduled',
    summary: 'Tomorrow',
    body: (at) => ({
      sender: 'Demo <hello@demo.example>',
      recipient: 'ada@example.com',
      subject: 'A reminder',
      content: { text: 'This was written a day ago.' },
      scheduledAt: dayAfter(at),
    }),
  },
];

export default [
  endpoint({
    method: 'post',
    path: '/v2/email',
    id: 'sendEmail',
    tag,
    summary: 'Send one email, now or at scheduledAt',
    scope: 'email.send',
    body: NewEmail,
    examples,
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
