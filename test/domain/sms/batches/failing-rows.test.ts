import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { listSms } from '../../../../shared/db/sms/listings.ts';
import * as senders from '../../../../shared/domain/senders/senders.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { makeContacts } from '../../../support/data/address-book.ts';
import { messagesTo, newBatch, workLater, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';

// A row that cannot be sent fails alone: the rest of its batch goes out.
useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
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
