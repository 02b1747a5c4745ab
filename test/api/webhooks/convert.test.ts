import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import type { LegacyEvent } from '../../../shared/schemas/webhooks/webhooks.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { deliveriesOf } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { isSignedBy, labelsOf } from '../../support/servers/verify-delivery.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { newUrl } from '../../support/servers/webhook-url.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const make = (changes: object = {}, from = own) => {
  const events: LegacyEvent[] = ['delivery_receipt', 'inbound'];
  return webhooks.createLegacy(from.workspaceId, { url: newUrl(), events, ...changes });
};
const change = (id: string, body: object, key = own.key) =>
  api.request('PATCH', `/v2/webhooks/${id}`, { key, body });
const read = async (id: string) => (await api.request('GET', `/v2/webhooks/${id}`, { key: own.key })).body;

const v2 = { apiVersion: '2026-11-01', events: ['email.queued', 'sms.received'] };

test('a legacy webhook is shown with its own names and no version', async () => {
  const made = await make();
  expect(made).toMatchObject({
    apiVersion: null,
    events: ['delivery_receipt', 'inbound'],
    secretVersion: 1,
    secret: expect.stringMatching(/^whsec_[\w-]{43}$/),
  });
  expect(await read(made.id)).toStrictEqual({ ...made, secret: null });
});

test('apiVersion and events together make it a v2 webhook, with a new secret that is shown once', async () => {
  const made = await make();
  const { status, body } = await change(made.id, { ...v2, description: 'Now v2' });
  expect(status).toBe(200);
  expect(body).toStrictEqual({
    ...made,
    ...v2,
    description: 'Now v2',
    secretVersion: 2,
    secret: expect.stringMatching(/^whsec_[\w-]{43}$/),
  });
  expect(body.secret).not.toBe(made.secret);
  expect(await read(made.id)).toStrictEqual({ ...body, secret: null });
  // The webhook is a v2 webhook now, so nothing is left to convert.
  expect((await change(made.id, v2)).body).toStrictEqual({ ...body, secret: null });
});

test.each<[what: string, fields: string[], body: object]>([
  ['apiVersion alone', ['events'], { apiVersion: '2026-11-01' }],
  ['v2 events alone', ['events[0]', 'events[1]'], { events: v2.events }],
  ['names of both kinds', ['events[1]'], { events: ['inbound', 'sms.sent'] }],
  ['apiVersion with legacy names', ['events[0]'], { ...v2, events: ['inbound', 'sms.sent'] }],
  ['an unknown version', ['apiVersion'], { ...v2, apiVersion: '2020-01-01' }],
  ['a version that is null', ['apiVersion'], { ...v2, apiVersion: null }],
  ['a number with other events', ['inboundNumber'], { ...v2, inboundNumber: '+447700900123' }],
])('%s does not convert it', async (_what, fields, body) => {
  const made = await make();
  const answer = await change(made.id, body);
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.body.errors)).toEqual(fields);
  expect(await read(made.id)).toStrictEqual({ ...made, secret: null });
});

test('a legacy webhook can be changed and stay one', async () => {
  const made = await make();
  const { status, body } = await change(made.id, { events: ['inbound', 'inbound'], active: false });
  expect(status).toBe(200);
  expect(body).toStrictEqual({ ...made, events: ['inbound'], active: false, secret: null });
  const limited = await change(made.id, { inboundNumber: '+447700900123' });
  expect(limited.body.inboundNumber).toBe('+447700900123');
  const widened = await change(made.id, { events: ['inbound', 'delivery_receipt'] });
  expect(Object.keys(widened.body.errors)).toEqual(['events']);
});

test('a v2 webhook never turns legacy', async () => {
  const { id } = await make();
  await change(id, v2);
  for (const body of [
    { apiVersion: null },
    { events: ['inbound'] },
    { apiVersion: null, events: ['inbound'] },
  ])
    expect((await change(id, body)).status).toBe(400);
  expect(await read(id)).toMatchObject(v2);
});

test('in a workspace that is not enabled for v2 webhooks it stays a legacy one', async () => {
  const mine = await workspace();
  const { id } = await make({}, mine);
  await query('UPDATE workspaces SET webhooks_enabled = 0 WHERE id = ?', [idToBytes(mine.workspaceId)]);
  const { status, body } = await change(id, v2, mine.key);
  expect(status).toBe(403);
  expect(body.type).toBe(`${api.url}/problems/webhooks_not_enabled`);
  expect((await change(id, { events: ['inbound'] }, mine.key)).status).toBe(200);
});

test('from its conversion on, deliveries are signed with the new secret alone', async () => {
  const mine = await workspace();
  const receiver = await startWebhookReceiver();
  const made = await make({ url: receiver.url }, mine);
  const { body } = await change(made.id, v2, mine.key);
  await acceptEmail(mine);
  await relay.relayAll();
  const [delivery] = await deliveriesOf(made.id);
  await attempt(delivery!.id);
  const [request] = receiver.requests;
  expect(labelsOf(request!)).toEqual({ sig: '2' });
  expect(await isSignedBy(request!, 'sig', body.secret)).toBe(true);
  expect(await isSignedBy(request!, 'sig', made.secret!)).toBe(false);
  expect(request!.headers).not.toHaveProperty('x-webhook-signature');
});
