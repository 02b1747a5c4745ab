import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { remove } from '../../../shared/domain/contacts/contacts.ts';
import { finishErasures } from '../../../shared/domain/contacts/erasure.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as receipts from '../../../shared/domain/sms/gateways/receipts.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { copyRow, idOfCopy } from '../../support/database/copied-rows.ts';
import { useDatabase } from '../../support/database/database.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';
import { waitFor } from '../../support/time/wait-for.ts';

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
  api.request(method, path, { key: own.key, ...(body && { body }) });
const contact = async (number: string): Promise<string> =>
  (await call('POST', '/v2/contacts', { number })).body.id;

test('the texts of an erased contact stay, and nothing says any more whose they were', async () => {
  const [id, other] = [await contact('07700 900123'), await contact('07700 900124')];
  const sent = await sendSms(api, own);
  const theirs = await sendSms(api, own, { recipient: '+447700900124' });
  const reply = (
    await call('POST', '/v2/simulator/phones/07700900123/messages', { content: 'Hi', to: 'Acme' })
  ).body;
  expect([sent.contactId, reply.contactId, theirs.contactId]).toEqual([id, id, other]);
  expect((await call('DELETE', `/v2/contacts/${id}`)).status).toBe(204);

  for (const text of [sent, reply])
    expect((await call('GET', `/v2/sms/${text.id}`)).body).toMatchObject({ id: text.id, contactId: null });
  const { data } = (await call('GET', '/v2/sms')).body;
  expect(data.map(({ contactId }: any) => contactId)).toEqual([null, other, null]);
  const [conversation] = (await call('GET', '/v2/conversations')).body.data;
  expect(conversation).toMatchObject({ contact: null, lastMessage: { contactId: null } });
  expect(await query('SELECT 1 FROM sms_messages WHERE contact_id = ?', [idToBytes(id)])).toEqual([]);

  // Later events of the text do not name the contact either.
  await attempt(sent.id);
  const events = (await call('GET', `/v2/sms/${sent.id}/events`)).body.data;
  expect(events.at(-1)).toMatchObject({ type: 'sms.sent', data: { contactId: null } });
});

test('so do the texts to a number that the contact had before', async () => {
  const id = await contact('07700 900125');
  const { id: textId } = await sendSms(api, own, { recipient: '+447700900125' });
  await call('PATCH', `/v2/contacts/${id}`, { number: '07700 900126' });
  expect((await call('GET', `/v2/sms/${textId}`)).body.contactId).toBe(id);
  await call('DELETE', `/v2/contacts/${id}`);
  expect((await call('GET', `/v2/sms/${textId}`)).body.contactId).toBeNull();
  // The next holder of the number is somebody else.
  await contact('07700 900125');
  expect((await call('GET', `/v2/sms/${textId}`)).body.contactId).toBeNull();
});

test('nor do later events of such texts name the contact, whoever makes them', async () => {
  // The simulator would take a text to a number of the drama range.
  const number = '+447911000130';
  const id = await contact(number);
  const scheduledAt = new Date(now().getTime() + 3_600_000).toISOString();
  const [delivered, sent, cancelled] = [
    await sendSms(api, own, { recipient: number }),
    await sendSms(api, own, { recipient: number }),
    await sendSms(api, own, { recipient: number, scheduledAt }),
  ];
  const gateway = useTextGateway();
  gateway.says = () => Promise.resolve({ kind: 'accepted', reference: 'erased' });
  await attempt(delivered.id);
  await call('PATCH', `/v2/contacts/${id}`, { number: '+447911000131' });
  await call('DELETE', `/v2/contacts/${id}`);
  await receipts.apply({ gateway: 'network', reference: 'erased', reason: null });
  gateway.says = () => Promise.resolve({ kind: 'accepted', reference: 'erased too' });
  await attempt(sent.id);
  gateway.stop();
  const answer = (await call('DELETE', `/v2/sms/${cancelled.id}`)).body;
  const lastEventOf = async (text: { id: string }) => {
    const { type, data } = (await call('GET', `/v2/sms/${text.id}/events`)).body.data.at(-1);
    return [type, data.contactId];
  };
  expect([
    answer.contactId,
    await lastEventOf(cancelled),
    await lastEventOf(delivered),
    await lastEventOf(sent),
  ]).toEqual([null, ['sms.cancelled', null], ['sms.delivered', null], ['sms.sent', null]]);
});

test('a contact with many texts is erased as well', async () => {
  const id = await contact('07700 900127');
  const { id: textId } = await sendSms(api, own, { recipient: '+447700900127' });
  await copyRow('sms_messages', idToBytes(textId), 900, { id: idOfCopy });
  expect((await call('DELETE', `/v2/contacts/${id}`)).status).toBe(204);
  expect(await query('SELECT 1 FROM sms_messages WHERE contact_id = ?', [idToBytes(id)])).toEqual([]);
});

const contactIdsOf = (id: string) =>
  query('SELECT 1 FROM sms_messages WHERE contact_id = ?', [idToBytes(id)]);
const erasuresOf = (id: string) =>
  query('SELECT 1 FROM contact_erasures WHERE contact_id = ?', [idToBytes(id)]);

test('the contact is gone before its texts are looked for, which may be in the hands of a worker', async () => {
  const id = await contact('07700 900128');
  const { id: textId } = await sendSms(api, own, { recipient: '+447700900128' });
  const { promise: held, resolve: hold } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const worker = transaction(async () => {
    await query('SELECT id FROM sms_messages WHERE id = ? FOR UPDATE', [idToBytes(textId)]);
    hold();
    await over;
  });
  await held;
  const erasing = call('DELETE', `/v2/contacts/${id}`);
  try {
    await waitFor(
      'the contact is gone',
      async () => (await call('GET', `/v2/contacts/${id}`)).status === 404,
    );
    expect((await call('GET', `/v2/sms/${textId}`)).body.contactId).toBeNull();
  } finally {
    end();
    await worker;
  }
  expect((await erasing).status).toBe(204);
  expect([await contactIdsOf(id), await erasuresOf(id)]).toEqual([[], []]);
});

test('where the process ends after the commit, the job has the texts forget the contact', async () => {
  const id = await contact('07700 900129');
  const { id: textId } = await sendSms(api, own, { recipient: '+447700900129' });
  await transaction(async () => void (await remove(callerOf(own), id)));
  expect((await call('GET', `/v2/sms/${textId}`)).body.contactId).toBeNull();
  // A run that is told to stop leaves the erasure to the next run.
  await finishErasures(100, () => true);
  expect(await erasuresOf(id)).toHaveLength(1);
  await finishErasures(100, () => false);
  expect([await contactIdsOf(id), await erasuresOf(id)]).toEqual([[], []]);
});
