import * as simulator from '../../shared/domain/simulator/simulator.ts';
import { PageQuery, text } from '../../shared/schemas/fields.ts';
import { SimulatorPhonePage, SimulatorText } from '../../shared/schemas/simulator.ts';
import { SmsMessage } from '../../shared/schemas/sms/sms.ts';
import { resource } from '../endpoint.ts';

const endpoint = resource('Simulator', {
  number: text({ min: 1, max: 40 }).meta({
    description: 'Any common format, UK without a country code',
    example: '+447700900123',
  }),
});

export default [
  endpoint({
    route: 'GET /v2/simulator/phones',
    id: 'listSimulatorPhones',
    summary: 'List the phones that were texted, newest first',
    description:
      'The numbers 07700 900000 to 07700 900999 are nobody’s: what is sent to them stays in the simulator, whatever carries other messages. 900002 fails for good, 900003 for now, 900004 expires, 900005 is never reported, 900006 answers STOP, 900007 answers YES; all others deliver.',
    scope: ['simulator.read', 'recipients.read', 'content.read'],
    query: PageQuery,
    response: SimulatorPhonePage,
    handle: ({ caller, query }) => simulator.list(caller, query),
  }),
  endpoint({
    route: 'DELETE /v2/simulator/phones',
    id: 'clearSimulatorPhones',
    summary: 'Clear the phones of their texts, and the list of phones',
    description:
      'Only the phones of this workspace are cleared. The messages that GET /v2/sms lists stay, and a text that is still on its way arrives at a new phone.',
    scope: 'simulator.write',
    handle: ({ caller }) => simulator.clear(caller),
  }),
  endpoint({
    route: 'POST /v2/simulator/phones/{number}/messages',
    id: 'createSimulatorMessage',
    summary: 'Text the workspace from a phone of the simulator',
    description:
      'The answer is the text as it came in; webhooks and the feed get sms.received for it. STOP and words like it suppress the number, and START lifts that again. Without `to` it answers the sender of the last text to the phone. A number that the simulator does not carry is not_found.',
    scope: 'simulator.write',
    body: SimulatorText,
    examples: [{ name: 'minimal', summary: 'A reply', body: { content: 'Yes please' } }],
    status: 201,
    response: SmsMessage,
    location: (message) => `/v2/sms/${message.id}`,
    faults: ({ caller, body }) => simulator.faultsOf(caller, body),
    prepare: ({ caller, params, body }) => simulator.prepare(caller, params.number, body),
    handle: ({ caller, prepared }) => simulator.receive(caller, prepared),
  }),
];
