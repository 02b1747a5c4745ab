import * as shortLinks from '../../../shared/domain/sms/short-links/short-links.ts';
import * as sms from '../../../shared/domain/sms/sms.ts';
import { RecordEventPage } from '../../../shared/schemas/events.ts';
import { Id } from '../../../shared/schemas/fields.ts';
import { ShortLinkPage } from '../../../shared/schemas/sms/short-links.ts';
import { NewSms, SmsFilter, SmsMessage, SmsPage } from '../../../shared/schemas/sms/sms.ts';
import { dayAfter, type Example, resource } from '../../endpoint.ts';

const endpoint = resource('SMS', { id: Id('sms') });

/** The first goes out at once; the others each show one more thing that a text can have. */
const examples: readonly Example<typeof NewSms>[] = [
  {
    name: 'minimal',
    summary: 'A text',
    body: { recipient: '+447700900123', content: 'Your parcel is here.' },
  },
  {
    name: 'template',
    summary: 'A stored template',
    body: {
      recipient: '+447700900123',
      template: { name: 'Appointment reminder', data: { name: 'Ada', day: 'Monday' } },
    },
  },
  {
    name: 'links',
    summary: 'A link whose clicks are counted',
    body: {
      recipient: '+447700900123',
      content: 'Follow your parcel: https://shop.example/orders/7',
      shortenLinks: true,
    },
  },
  {
    name: 'scheduled',
    summary: 'Tomorrow',
    body: (at) => ({
      recipient: '+447700900123',
      content: 'Your parcel comes today.',
      scheduledAt: dayAfter(at),
    }),
  },
];

export default [
  endpoint({
    route: 'POST /v2/sms',
    id: 'sendSms',
    summary: 'Send one text message, now or at scheduledAt',
    description:
      'A message that the workspace cannot pay for is held, and goes out in order once it can, within 72 hours.',
    scope: 'sms.send',
    body: NewSms,
    examples,
    status: 201,
    response: SmsMessage,
    problems: ['sending_blocked', 'recipient_suppressed', 'limit_reached', 'limit_exceeded'],
    faults: ({ caller, body }) => sms.faultsOf(caller, body),
    prepare: ({ caller, body }) => sms.prepare(caller, body),
    handle: ({ caller, prepared }) => sms.send(caller, prepared),
  }),
  endpoint({
    route: 'GET /v2/sms',
    id: 'listSms',
    summary: 'List text messages, newest first',
    description:
      'Texts that were sent and texts that came in are listed together, unless direction says which. A text must match all filters that are given; a filter by a number needs the scope recipients.read. Where few texts match, a page may be short, or empty, and nextCursor goes on from there.',
    scope: 'sms.read',
    query: SmsFilter,
    response: SmsPage,
    faults: ({ query }) => sms.faultsOfFilter(query),
    handle: ({ caller, query }) => sms.list(caller, query),
  }),
  endpoint({
    route: 'GET /v2/sms/{id}',
    id: 'getSms',
    summary: 'Get one text message',
    description:
      'A text that is sent goes from queued to sent, and then to delivered or failed, or to cancelled; it is held while the workspace cannot pay for it, and reason says why it failed. A text that came in is received. A text that is no longer kept is not_found.',
    scope: 'sms.read',
    response: SmsMessage,
    handle: ({ caller, params }) => sms.find(caller, params.id),
  }),
  endpoint({
    route: 'GET /v2/sms/{id}/events',
    id: 'listSmsEvents',
    summary: 'List the events of one text message, oldest first',
    description:
      'All of them come in one page: nextCursor is always null. The data of each is the text as it was at that time. Events are usually kept for fewer days than texts, so an older text may have none left; retention in the workspace says how many.',
    scope: 'sms.read',
    response: RecordEventPage,
    handle: ({ caller, params, version }) => sms.listEvents(caller, params.id, version),
  }),
  endpoint({
    route: 'GET /v2/sms/{id}/links',
    id: 'listSmsLinks',
    summary: 'List the short links of one text message, with their clicks',
    description:
      'All of them come in one page: nextCursor is always null. A text without shortenLinks has none. The links work as long as the text is kept, and clicks are shown about a second later.',
    scope: 'sms.read',
    response: ShortLinkPage,
    handle: ({ caller, params }) => shortLinks.listOfSms(caller, params.id),
  }),
  endpoint({
    route: 'DELETE /v2/sms/{id}',
    id: 'cancelSms',
    summary: 'Cancel a message that is held, or scheduled and still waits to send',
    description:
      'The answer is the text with the status cancelled, and sms.cancelled is its last event. Its price goes back to the balance and its parts to the limits of the key. A text that is not held and was not scheduled, and one whose time has come, is refused with not_cancellable; queued texts of a batch are cancelled with the batch.',
    scope: 'sms.send',
    response: SmsMessage,
    problems: ['not_cancellable'],
    handle: ({ caller, params }) => sms.cancel(caller, params.id),
  }),
];
