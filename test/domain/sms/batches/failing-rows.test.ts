import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { gatewayList } from '../../../../shared/config/sms-gateways.ts';
import { listSms } from '../../../../shared/db/sms/listings.ts';
import * as senders from '../../../../shared/domain/senders/senders.ts';
import * as balance from '../../../../shared/domain/sms/balance.ts';
import * as prices from '../../../../shared/domain/sms/prices.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { makeContacts } from '../../../support/data/address-book.ts';
import { messagesTo, newBatch, workLater, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';

// A row that cannot be sent fails alone: the rest of its batch goes out.
useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\nFR,0.0600,0.0700,2020-01-01\n');
});
beforeEach(async () => {
  own = await textingWorkspace();
});

const call = (method: string, path: string, body?: object) =>
  api.request(method, `/v2${path}`, { key: own.key, ...(body && { body }) });
const inHours = (hours: number) => new Date(now().getTime() + hours * 3_600_000).toISOString();
const laterMs = 2 * 3_600_000 + 1_000;
const outcomesOf = async (id: string) => {
  const { records } = await listSms(own.workspaceId, { batchId: id }, { limit: 200, before: null });
  return records
    .toSorted((one, other) => (one.status < other.status ? -1 : 1))
    .map(({ status, recipient, sender, reason }) => [status, recipient, sender, reason?.code]);
};
async function listOf(contactIds: string[]): Promise<string> {
  const { id } = (await call('POST', '/contact-lists', { name: 'Members' })).body;
  await call('POST', `/contact-lists/${id}/contacts`, { contactIds });
  return id;
}
/** Gateways that take texts to these countries and to no other. */
const useGatewaysTo = (...countries: string[]) =>
  changeSettings({
    SMS_GATEWAYS: gatewayList.parse(JSON.stringify([{ name: 'simulator', type: 'simulator', countries }])),
  });
/** With white space that takes two or three bytes a character. */
const padded = (name: string) => `${'\u00a0'.repeat(10)}${name}${'\u3000'.repeat(10)}`;

test('a sender that is not approved for one country fails the message to it under its own name', async () => {
  const contacts = await makeContacts(own, 2);
  await call('PATCH', `/contacts/${contacts[0]}`, { number: '+33612345678' });
  const { id } = await newBatch(api, own, { listIds: [await listOf(contacts)], sender: padded('aCME') });
  await workOff(id);
  expect(await outcomesOf(id)).toEqual([
    ['failed', '+33612345678', 'Acme', 'sender_not_approved'],
    ['queued', expect.any(String), 'Acme', undefined],
  ]);
});

test('a sender that is gone by then fails its message under the name that was written', async () => {
  const { id: betaId } = await senders.addApproved(own.workspaceId, 'Beta');
  const [first, second] = messagesTo(2) as [object, object];
  const { id } = await newBatch(api, own, {
    messages: [{ ...first, sender: padded('bETA') }, second],
    sender: 'Acme',
    scheduledAt: inHours(2),
  });
  await senders.reject(betaId, ['GB'], 'No');
  expect((await call('DELETE', `/senders/${betaId}`)).status).toBe(204);
  await workLater(id, laterMs);
  expect(await outcomesOf(id)).toEqual([
    ['failed', '+447911000000', 'bETA', 'sender_not_approved'],
    ['queued', '+447911000001', 'Acme', undefined],
  ]);
});

const french = { recipient: '+33612345678' };
const [british] = messagesTo(1) as [{ recipient: string }];

test('a row that no gateway takes is told like one without a price, and where there is no other, all is refused', async () => {
  useGatewaysTo('GB');
  await senders.addApproved(own.workspaceId, 'Gamma', ['FR', 'GB']);
  const unreachable = 'cannot be reached from Gamma: no gateway takes such messages';
  const body = { content: 'Hi', sender: 'Gamma', messages: [french, british] };
  const errors = { errors: [{ index: 0, error: `recipient ${unreachable}` }], errorCount: 1 };
  const preview = await call('POST', '/sms/batches/preview', body);
  expect(preview.body).toMatchObject({ recipients: 1, parts: 1, cost: { gbp: '0.0300' }, ...errors });
  expect(await newBatch(api, own, body)).toMatchObject({ counts: { total: 1, waiting: 1 }, ...errors });
  for (const path of ['/sms/batches/preview', '/sms/batches']) {
    const refused = await call('POST', path, { ...body, messages: [french] });
    expect([refused.status, refused.body.errors]).toEqual([400, { 'messages[0].recipient': [unreachable] }]);
  }
});

test('a row that no gateway takes when its message is made fails, and is not paid for', async () => {
  useGatewaysTo('GB', 'FR');
  await balance.add(own.workspaceId, 1_000, null);
  await senders.addApproved(own.workspaceId, 'Gamma', ['FR', 'GB']);
  const contacts = await makeContacts(own, 1);
  await call('PATCH', `/contacts/${contacts[0]}`, { number: french.recipient });
  const ofRows = await newBatch(api, own, { messages: [french, british], sender: 'Gamma' });
  useGatewaysTo('GB');
  const ofList = { content: 'Hi', listIds: [await listOf(contacts)], sender: 'Gamma' };
  expect((await call('POST', '/sms/batches/preview', ofList)).body).toMatchObject({
    parts: 0,
    errors: [{ index: 0, error: 'No gateway takes messages from this sender to this number' }],
  });
  const { id } = await newBatch(api, own, ofList);
  await workOff(ofRows.id);
  await workOff(id);
  const failed = ['failed', french.recipient, 'Gamma', 'no_route'];
  expect(await outcomesOf(ofRows.id)).toEqual([failed, ['queued', british.recipient, 'Gamma', undefined]]);
  expect(await outcomesOf(id)).toEqual([failed]);
  // One text to Britain is all that was ever charged: nothing was given back.
  const ledger = await balance.listLedger(own.workspaceId, 10);
  expect(ledger.map(({ kind, amount }) => [kind, amount])).toEqual([
    ['charge', -300],
    ['credit', 1_000],
  ]);
});
