import { beforeAll, beforeEach, expect, test } from 'vitest';
import { query, transaction } from '../../../shared/db/client.ts';
import { findWorkspaceForUpdate } from '../../../shared/db/workspace/workspaces.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import * as balance from '../../../shared/domain/sms/balance.ts';
import * as batches from '../../../shared/domain/sms/batches/batches.ts';
import * as smsDelivery from '../../../shared/domain/sms/delivery/delivery.ts';
import * as prices from '../../../shared/domain/sms/prices.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import type { NewSmsImport } from '../../../shared/schemas/sms/batches.ts';
import { importForm } from '../../support/api/form.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { batchOf, messagesTo, newBatch, postBatch, workOff } from '../../support/data/new-batch.ts';
import { textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { watchLockWaits } from '../../support/database/lock-wait.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
/** The id of the sender Beta, which is not the default. */
let beta: string;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
});
beforeEach(async () => {
  own = await textingWorkspace();
  beta = (await senders.addApproved(own.workspaceId, 'Beta')).id;
});

const call = (method: string, path: string, body?: object) =>
  api.request(method, `/v2${path}`, { key: own.key, ...(body && { body }) });
const statusOfDelete = async () => (await call('DELETE', `/senders/${beta}`)).status;
const scheduledAt = () => new Date(Date.now() + 3_600_000).toISOString();
const [one, other] = messagesTo(2) as [{ recipient: string }, { recipient: string }];

test('while a sender is looked for in what waits, nobody waits for the workspace', async () => {
  await newBatch(api, own, { scheduledAt: scheduledAt(), messages: [{ ...one, sender: ' beta ' }] });
  const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holder = transaction(async () => {
    await findWorkspaceForUpdate(own.workspaceId);
    held.resolve();
    await over.promise;
  });
  await held.promise;
  try {
    expect(await statusOfDelete()).toBe(409);
  } finally {
    over.resolve();
    await holder;
  }
});

test('a sender that a row of a file names is in use', async () => {
  const csv = `number,from\n${one.recipient},BETA\n${other.recipient},\n`;
  const settings = { content: 'Hello', columns: { sender: 'from' }, scheduledAt: scheduledAt() };
  const { body, headers } = importForm(settings, csv);
  const made = await api.request('POST', '/v2/sms/batches/import', { key: own.key, body, headers });
  expect(made.status).toBe(201);
  expect(await statusOfDelete()).toBe(409);
  await call('DELETE', `/sms/batches/${made.body.id}`);
  expect(await statusOfDelete()).toBe(204);
});

test('a sender that only rows name which have become messages is in use no more, once these are sent', async () => {
  await balance.add(own.workspaceId, 300, null);
  const { id } = await newBatch(api, own, { messages: [{ ...one, sender: 'Beta' }, other] });
  await workOff(id);
  expect(await batchOf(api, own, id)).toMatchObject({ status: 'paused', counts: { queued: 1, waiting: 1 } });
  expect(await statusOfDelete()).toBe(409);
  const [text] = (await call('GET', `/sms?batchId=${id}`)).body.data;
  await smsDelivery.attempt(text.id);
  expect(await statusOfDelete()).toBe(204);
});

test('of a batch that is from the version before, the rows tell which senders are in use', async () => {
  const make = (sender: string) =>
    newBatch(api, own, { scheduledAt: scheduledAt(), messages: [{ ...one, sender }] });
  const batches = [await make('Acme'), await make('Beta')];
  await query('UPDATE sms_batches SET senders = NULL WHERE id IN (?)', [
    batches.map(({ id }) => idToBytes(id)),
  ]);
  expect(await statusOfDelete()).toBe(409);
  await call('DELETE', `/sms/batches/${batches[1].id}`);
  expect(await statusOfDelete()).toBe(204);
});

const gone = /^names beta, which is not a sender of this workspace$/i;

async function listOf(contact: { recipient: string }): Promise<string> {
  const { id } = (await call('POST', '/contacts', { number: contact.recipient })).body;
  const list = (await call('POST', '/contact-lists', { name: 'Members' })).body;
  await call('POST', `/contact-lists/${list.id}/contacts`, { contactIds: [id] });
  return list.id;
}

test.each<[string, number, (listId: string) => Promise<Answer>]>([
  ['its messages', 400, () => postBatch(api, own, { sender: 'Beta', messages: [one] })],
  ['a message', 400, () => postBatch(api, own, { messages: [{ ...one, sender: 'beta' }, other] })],
  ['a list', 400, (listId) => postBatch(api, own, { sender: 'Beta', listIds: [listId] })],
  ['no message', 201, () => postBatch(api, own, { sender: 'Beta', messages: [{ ...one, sender: 'Acme' }] })],
])(
  'where the sender of %s is deleted while a batch is accepted, the answer is %d',
  async (_, expected, post) => {
    const listId = await listOf(one);
    const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const deleting = transaction(async () => {
      await findWorkspaceForUpdate(own.workspaceId);
      held.resolve();
      await over.promise;
      await senders.cancel(callerOf(own), beta);
    });
    await held.promise;
    const waits = await watchLockWaits();
    const answer = post(listId);
    try {
      await waitFor('the batch waits for the workspace', async () => (await waits.look()).length > 0);
    } finally {
      over.resolve();
      await Promise.all([deleting, waits.close()]);
    }
    const { status, body } = await answer;
    expect(status).toBe(expected);
    if (status === 400) expect(body.errors).toEqual({ sender: [expect.stringMatching(gone)] });
  },
);

test.each<[string, string, Omit<NewSmsImport, 'content'>]>([
  ['its rows', 'number\n', { sender: 'Beta' }],
  ['a row', 'number,from\n', { columns: { sender: 'from' } }],
])(
  'where the sender of %s is deleted after a file was read, the file is refused',
  async (_, header, settings) => {
    const caller = callerOf(own);
    const request = { content: 'Hello', ...settings };
    const prepared = await batches.prepareImport(caller, request, async function* () {
      yield Buffer.from(`${header}${one.recipient}${header.includes('from') ? ',BETA' : ''}\n`);
    });
    await transaction(() => senders.cancel(caller, beta));
    const imported = transaction(() => batches.importFile(caller, request, prepared));
    await expect(imported).rejects.toMatchObject({
      options: { errors: { file: [expect.stringMatching(gone)] } },
    });
  },
);
