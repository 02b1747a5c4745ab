import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { deliveriesOf, makeWebhook } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { isSignedBy, labelsOf } from '../../support/servers/verify-delivery.ts';
import {
  type ReceivedRequest,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

type Workspace = Awaited<ReturnType<typeof workspace>>;

const rotate = (id: string, key: string) => api.request('POST', `/v2/webhooks/${id}/rotate-secret`, { key });
const hourMs = 3_600_000;

/** Makes a webhook. Returns its first secret, and a function that returns the request that its endpoint gets. */
async function start() {
  const own = await workspace();
  const receiver = await startWebhookReceiver();
  const { id, secret } = await makeWebhook(own, `${receiver.url}/hook?a=b`);
  return { own, id, first: secret!, deliver: () => deliver(own, id, receiver) };
}

async function deliver(own: Workspace, id: string, receiver: WebhookReceiver): Promise<ReceivedRequest> {
  await acceptEmail(own);
  await relay.relayAll();
  const { id: deliveryId } = (await deliveriesOf(id)).at(-1)!;
  expect(await attempt(deliveryId)).toBe('done');
  return receiver.requests.at(-1)!;
}

test('it is answered with the webhook, a version more, and the new secret, which is not shown again', async () => {
  const { own, id, first } = await start();
  const before = (await api.request('GET', `/v2/webhooks/${id}`, { key: own.key })).body;
  const { status, body } = await rotate(id, own.key);
  expect(status).toBe(200);
  expect(body).toStrictEqual({
    ...before,
    secretVersion: 2,
    secret: expect.stringMatching(/^whsec_[\w-]{43}$/),
  });
  expect(body.secret).not.toBe(first);
  const after = (await api.request('GET', `/v2/webhooks/${id}`, { key: own.key })).body;
  expect(after).toStrictEqual({ ...body, secret: null });
});

test('for 72 hours a delivery is signed with both secrets, each under its version, and then with the new one', async () => {
  const { own, id, first, deliver } = await start();
  expect(labelsOf(await deliver())).toEqual({ sig: '1' });
  const { secret } = (await rotate(id, own.key)).body;
  for (const waitMs of [0, 71.9 * hourMs]) {
    await advanceClock(waitMs);
    const request = await deliver();
    expect(labelsOf(request)).toEqual({ sig: '2', 'sig-prev': '1' });
    expect(await isSignedBy(request, 'sig', secret)).toBe(true);
    expect(await isSignedBy(request, 'sig-prev', first)).toBe(true);
    expect(await isSignedBy(request, 'sig', first)).toBe(false);
    expect(await isSignedBy(request, 'sig-prev', secret)).toBe(false);
  }
  await advanceClock(0.2 * hourMs);
  const request = await deliver();
  expect(labelsOf(request)).toEqual({ sig: '2' });
  expect(await isSignedBy(request, 'sig', secret)).toBe(true);
});

test('after a second rotation the first secret signs no more', async () => {
  const { own, id, first, deliver } = await start();
  const second = (await rotate(id, own.key)).body.secret;
  const third = (await rotate(id, own.key)).body.secret;
  const request = await deliver();
  expect(labelsOf(request)).toEqual({ sig: '3', 'sig-prev': '2' });
  expect(await isSignedBy(request, 'sig', third)).toBe(true);
  expect(await isSignedBy(request, 'sig-prev', second)).toBe(true);
  for (const label of ['sig', 'sig-prev']) expect(await isSignedBy(request, label, first)).toBe(false);
});

test('both secrets are stored sealed', async () => {
  const { own, id, first } = await start();
  const { secret } = (await rotate(id, own.key)).body;
  const [row] = await query<{ secret: Buffer; previous_secret: Buffer }[]>(
    'SELECT secret, previous_secret FROM webhooks WHERE id = ?',
    [idToBytes(id)],
  );
  for (const column of ['secret', 'previous_secret'] as const)
    for (const text of [first, secret]) expect(row![column].includes(Buffer.from(text))).toBe(false);
});

test('rotations at once each give a version and a secret of their own', async () => {
  const { own, id, deliver } = await start();
  const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(id, own.key)));
  const byVersion = new Map(answers.map(({ body }) => [body.secretVersion as number, body.secret as string]));
  expect([...byVersion.keys()].toSorted((one, other) => one - other)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  const request = await deliver();
  expect(await isSignedBy(request, 'sig', byVersion.get(9)!)).toBe(true);
  expect(await isSignedBy(request, 'sig-prev', byVersion.get(8)!)).toBe(true);
});

test('a legacy webhook has one secret at a time', async () => {
  const own = await workspace();
  const url = 'https://example.com/v1';
  const made = await webhooks.createLegacy(own.workspaceId, { url, events: ['inbound'] });
  const { body } = await rotate(made.id, own.key);
  expect(body).toMatchObject({
    apiVersion: null,
    secretVersion: 2,
    secret: expect.stringMatching(/^whsec_/),
  });
  const [row] = await query('SELECT * FROM webhooks WHERE id = ?', [idToBytes(made.id)]);
  expect(row).toMatchObject({ previous_secret: null, previous_secret_until: null });
});

test('a webhook of another workspace is not there, and keeps its secret', async () => {
  const { id, first, deliver } = await start();
  const { key } = await workspace();
  expect((await rotate(id, key)).status).toBe(404);
  const request = await deliver();
  expect(labelsOf(request)).toEqual({ sig: '1' });
  expect(await isSignedBy(request, 'sig', first)).toBe(true);
});
