import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { numberOfName } from '../../../shared/formats/sms/sender-name.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { postBatch } from '../../support/data/new-batch.ts';
import { postSms, sendSms, smsOf } from '../../support/data/new-sms.ts';
import { awaitingMobile, codeSentTo, sampleContent, textsTo } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let network: ReturnType<typeof useTextGateway> | undefined;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  own = await workspace();
  name = `0740300010${(made += 1)}`;
});
afterEach(() => network?.stop());

/** Another number for each test, because a number gets few codes an hour. */
let name: string;
let made = 0;
const person = '+447403000999';
const drama = '+447700900123';
const again = 'it was verified only in the simulator; request it again to verify it with its phone';
const refusal = () => ({ sender: [`cannot be ${name}: ${again}`] });

const call = (method: string, path: string, body?: object): Promise<Answer> =>
  api.request(method, path, { key: own.key, ...(body && { body }) });
const request = (countries?: string[]) => call('POST', '/v2/senders', { name, sampleContent, countries });
const verify = (id: string, code: string) => call('POST', `/v2/senders/${id}/verify`, { code });

async function verifiedInSimulator(mobile = name): Promise<{ id: string; code: string }> {
  const id = await awaitingMobile(api, own, mobile);
  const code = await codeSentTo(own.workspaceId, mobile);
  expect((await verify(id, code)).body).toMatchObject({
    status: 'approved',
    countries: [{ country: 'GB', status: 'approved' }],
  });
  return { id, code };
}

test('a sender that was verified in the simulator sends nothing by a carrier until its phone has got a code', async () => {
  const { id, code } = await verifiedInSimulator();
  const number = numberOfName(name);
  const { id: early } = await sendSms(api, own, { recipient: person });
  // In the simulator the sender needs nothing more.
  expect((await request()).body.countries).toEqual([{ country: 'GB', status: 'approved' }]);
  expect(await textsTo(own.workspaceId, name)).toHaveLength(1);

  network = useTextGateway();
  const shown = { status: 'approved', countries: [{ country: 'GB', status: 'approved', reason: again }] };
  expect((await call('GET', `/v2/senders/${id}`)).body).toMatchObject(shown);
  expect((await postSms(api, own, { recipient: person })).body.errors).toEqual(refusal());
  expect((await postSms(api, own, { recipient: drama })).status).toBe(201);
  const batch = await postBatch(api, own, { messages: [{ recipient: drama }, { recipient: person }] });
  expect(batch.body.errors).toEqual([{ index: 1, error: expect.stringContaining(again) }]);
  await attempt(early);
  expect(await smsOf(own, early)).toMatchObject({
    status: 'failed',
    reason: { code: 'sender_not_approved' },
  });
  expect((await verify(id, code)).status).toBe(400);
  expect(network.taken).toEqual([]);

  const asked = await request(['GB', 'IE']);
  expect([asked.status, asked.body.countries]).toEqual([
    200,
    ['GB', 'IE'].map((country) => ({ country, status: 'approved', reason: again })),
  ]);
  expect(network.taken).toMatchObject([{ recipient: number }]);
  expect((await postSms(api, own, { recipient: person })).body.errors).toEqual(refusal());
  const verified = await verify(id, network.taken[0]!.content.slice(0, 6));
  expect(verified.body.countries).toEqual(['GB', 'IE'].map((country) => ({ country, status: 'approved' })));
  const { id: late } = await sendSms(api, own, { recipient: person });
  await attempt(late);
  expect(network.taken.slice(1)).toMatchObject([{ sender: number, recipient: person }]);
});

test('a code that the simulator got before the carrier came is no proof', async () => {
  const id = await awaitingMobile(api, own, name);
  const code = await codeSentTo(own.workspaceId, name);
  network = useTextGateway();
  expect((await verify(id, code)).body.countries).toEqual([
    { country: 'GB', status: 'approved', reason: again },
  ]);
  expect((await postSms(api, own, { recipient: person })).body.errors).toEqual(refusal());
});

test('a review of the operator is no proof either', async () => {
  const { id } = await verifiedInSimulator();
  await request(['IE']);
  await senders.reject(id, ['IE'], 'Not there');
  network = useTextGateway();
  expect((await postSms(api, own, { recipient: person })).body.errors).toEqual(refusal());
});

test('a code that the carrier does not take leaves the sender as it was', async () => {
  const { id } = await verifiedInSimulator();
  network = useTextGateway();
  network.says = () =>
    Promise.resolve({ kind: 'refused', code: 'refused', retryable: false, detail: 'Not this number' });
  expect((await request()).status).toBe(503);
  expect((await call('GET', `/v2/senders/${id}`)).body.status).toBe('approved');
  expect((await postSms(api, own, { recipient: person })).body.errors).toEqual(refusal());
});

test('a number that belongs to nobody stays approved', async () => {
  await verifiedInSimulator('07700900124');
  network = useTextGateway();
  expect((await postSms(api, own, { recipient: person })).status).toBe(201);
});
