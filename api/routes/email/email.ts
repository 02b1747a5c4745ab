import * as email from '../../../shared/domain/email/email.ts';
import { Email, EmailFilter, EmailPage, NewEmail } from '../../../shared/schemas/email/email.ts';
import { RecordEventPage } from '../../../shared/schemas/events.ts';
import { Id } from '../../../shared/schemas/fields.ts';
import { dayAfter, type Example, resource } from '../../endpoint.ts';

const endpoint = resource('Email', { id: Id('email') });
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
    route: 'POST /v2/email',
    id: 'sendEmail',
    summary: 'Send one email, now or at scheduledAt',
    description:
      'The answer comes as soon as the email is stored, with the status queued; later it is sent, and then delivered or failed, and each step is an event. An email to a suppressed address is accepted as well and then fails with the reason suppressed, unless bypassSuppressions lets it pass. With scheduledAt it can be cancelled until that time. With an Idempotency-Key a request that is repeated sends one email.',
    scope: 'email.send',
    body: NewEmail,
    examples,
    bodyLimitBytes,
    largeTexts: [['attachments', '*', 'content']],
    status: 201,
    response: Email,
    problems: ['sending_blocked', 'email_not_queued', 'limit_exceeded'],
    faults: ({ caller, body }) => email.faultsOf(caller, body),
    prepare: ({ caller, body }) => email.prepare(caller, body),
    handle: ({ caller, prepared }) => email.send(caller, prepared),
  }),
  endpoint({
    route: 'GET /v2/email',
    id: 'listEmails',
    summary: 'List emails, newest first',
    description:
      'An email must match all filters that are given; the filter recipient needs the scope recipients.read. Where few emails match, a page may be short, or empty, and nextCursor goes on from there. How many days emails are kept is in the workspace, under retention.',
    scope: 'email.read',
    query: EmailFilter,
    response: EmailPage,
    faults: ({ query }) => email.faultsOfFilter(query),
    handle: ({ caller, query }) => email.list(caller, query),
  }),
  endpoint({
    route: 'GET /v2/email/{id}',
    id: 'getEmail',
    summary: 'Get one email',
    description:
      'The status goes from queued to sent, delivered or failed, or to cancelled; a late bounce can still turn delivered into failed, and reason says why. Bodies and attachments are not shown: content has the beginning of the text. An email that is no longer kept is not_found.',
    scope: 'email.read',
    response: Email,
    handle: ({ caller, params }) => email.find(caller, params.id),
  }),
  endpoint({
    route: 'GET /v2/email/{id}/events',
    id: 'listEmailEvents',
    summary: 'List the events of one email, oldest first',
    description:
      'All of them come in one page: nextCursor is always null. The data of each is the email as it was at that time. Events are usually kept for fewer days than emails, so an older email may have none left; retention in the workspace says how many.',
    scope: 'email.read',
    response: RecordEventPage,
    handle: ({ caller, params, version }) => email.listEvents(caller, params.id, version),
  }),
  endpoint({
    route: 'DELETE /v2/email/{id}',
    id: 'cancelEmail',
    summary: 'Cancel a scheduled email that still waits to send',
    description:
      'The answer is the email with the status cancelled, and email.cancelled is its last event; the email itself can still be read. An email without scheduledAt, and one that is being sent, was sent or was cancelled before, is refused with not_cancellable.',
    scope: 'email.send',
    response: Email,
    problems: ['not_cancellable'],
    handle: ({ caller, params }) => email.cancel(caller, params.id),
  }),
];
