import * as senders from '../../shared/domain/senders/senders.ts';
import { Id } from '../../shared/schemas/fields.ts';
import {
  NewSender,
  Sender,
  SenderChanges,
  SenderCheck,
  SenderCheckQuery,
  SenderFilter,
  SenderPage,
  SenderVerification,
} from '../../shared/schemas/senders.ts';
import { Other, resource, Unfinished } from '../endpoint.ts';

const endpoint = resource('Senders', { id: Id('sender') });

export default [
  endpoint({
    route: 'POST /v2/senders',
    id: 'createSender',
    summary: 'Request a sender',
    description:
      'A name is reviewed before it may send. A UK mobile number is texted a code, which verifySender takes; it works for 10 minutes and 5 tries, and at most 3 an hour and 6 a day go to a number. A sender that is there already comes back as it is, with the countries that are new, and one that still awaits its code is texted another; so is one that was verified in the simulator, once a carrier takes texts. Where the code could not be sent, nothing is left of a sender that was to be new. The first sender that is approved becomes the default.',
    scope: 'senders.write',
    body: NewSender,
    examples: [
      {
        name: 'minimal',
        summary: 'A name',
        body: { name: 'Acme', sampleContent: 'Your parcel arrives today between 10:00 and 11:00.' },
      },
    ],
    status: 201,
    otherStatus: { status: 200, description: 'The sender was there already' },
    response: Sender,
    problems: [
      'sender_awaiting_verification',
      'sender_rejected',
      'limit_exceeded',
      'verification_limit_reached',
      'verification_not_sent',
    ],
    faults: ({ caller, body }) => senders.faultsOf(caller, body),
    handle: async ({ caller, body }) => {
      const { sender, isNew, unsent } = await senders.request(caller, body);
      const answer = isNew ? sender : new Other(sender);
      if (!unsent) return answer;
      return new Unfinished(answer, {
        withinMs: senders.textsWithinMs(),
        finish: async () => (await senders.textCode(unsent)) ?? answer,
      });
    },
  }),
  endpoint({
    route: 'GET /v2/senders',
    id: 'listSenders',
    summary: 'List senders, newest first',
    description:
      'Names, mobile numbers and virtual numbers are listed together. A sender that is approved for one country has the status approved, also in the filter, even while others are pending.',
    scope: 'senders.read',
    query: SenderFilter,
    response: SenderPage,
    handle: ({ caller, query }) => senders.list(caller, query),
  }),
  endpoint({
    route: 'GET /v2/senders/check',
    id: 'checkSender',
    summary: 'See whether a name could be requested',
    description: 'Nothing is stored or sent.',
    scope: 'senders.read',
    query: SenderCheckQuery,
    response: SenderCheck,
    handle: ({ caller, query }) => senders.check(caller, query.name),
  }),
  endpoint({
    route: 'GET /v2/senders/{id}',
    id: 'getSender',
    summary: 'Get one sender',
    description:
      'The status is approved as soon as the sender is approved for one country; countries has the outcome for each. A request that was cancelled is not_found.',
    scope: 'senders.read',
    response: Sender,
    handle: ({ caller, params }) => senders.find(caller, params.id),
  }),
  endpoint({
    route: 'PATCH /v2/senders/{id}',
    id: 'updateSender',
    summary: 'Make a sender the default of the workspace',
    description: 'Only one that is approved can be.',
    scope: 'senders.write',
    body: SenderChanges,
    examples: [{ name: 'minimal', summary: 'Make it the default', body: { default: true } }],
    response: Sender,
    problems: ['sender_not_approved'],
    handle: ({ caller, params, body }) => senders.change(caller, params.id, body),
  }),
  endpoint({
    route: 'DELETE /v2/senders/{id}',
    id: 'cancelSender',
    summary: 'Cancel the request for a sender, or give up one that was approved',
    description:
      'One that is approved goes only when no message waits to be sent with it. Where it was the default, the oldest other approved sender is the default then. A rejection stays in force when the same name is requested again. A virtual number is the operator’s to take back.',
    scope: 'senders.write',
    problems: ['not_cancellable', 'in_use'],
    handle: ({ caller, params }) => senders.cancel(caller, params.id),
  }),
  endpoint({
    route: 'POST /v2/senders/{id}/verify',
    id: 'verifySender',
    summary: 'Verify a mobile number with the code that was texted to it',
    description:
      'The right code approves the sender for the countries that it was requested for. A wrong one, one that has expired, and any after 5 tries are refused alike.',
    scope: 'senders.write',
    body: SenderVerification,
    examples: [{ name: 'minimal', summary: 'The code that was texted', body: { code: '123456' } }],
    response: Sender,
    prepare: ({ caller, params }) => senders.tryCode(caller, params.id),
    handle: ({ caller, params, body }) => senders.verify(caller, params.id, body.code),
  }),
];
