import { createHmac } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as events from '../../../shared/domain/events/events.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import { subscribedTypes } from '../../../shared/domain/webhooks/legacy.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { type EventType, eventTypes } from '../../../shared/schemas/events.ts';
import { type LegacyEvent, legacyEvents } from '../../../shared/schemas/webhooks/webhooks.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { deliveriesOf } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { labelsOf } from '../../support/servers/verify-delivery.ts';
import { type ReceivedRequest, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

/** Makes a message as its events carry it (API decisions §5, "SMS message"). */
function message(changes: object = {}) {
  return {
    id: newId('sms', now()),
    direction: 'outbound',
    status: 'delivered',
    sender: 'Acme',
    recipient: '+447700900001',
    content: 'Grüße 🙂 "quoted"',
    country: 'GB',
    parts: 2,
    encoding: 'ucs2',
    cost: { gbp: '0.0700', eur: null },
    clientReference: 'order-7',
    clientTag: null,
    batchId: null,
    contactId: null,
    templateName: null,
    inReplyTo: null,
    createdAt: '2026-11-20T10:00:00.000Z',
    scheduledAt: null,
    sentAt: '2026-11-20T10:00:01.000Z',
    deliveredAt: '2026-11-20T10:00:05.000Z',
    updatedAt: '2026-11-20T10:00:05.000Z',
    ...changes,
  };
}

async function record(type: EventType, data: ReturnType<typeof message>, from = own) {
  const event = events.make(type, { id: data.id, seq: 1, data }, now());
  await transaction(() => events.record(from.workspaceId, event));
  await relay.relayAll();
  return event;
}

/** Makes a legacy webhook for these events, and records the requests that its endpoint gets. */
async function start(names: LegacyEvent[], from = own) {
  const receiver = await startWebhookReceiver();
  const made = await webhooks.createLegacy(from.workspaceId, {
    url: `${receiver.url}/v1?a=b`,
    events: names,
  });
  const deliver = async (): Promise<ReceivedRequest> => {
    await attempt((await deliveriesOf(made.id)).at(-1)!.id);
    return receiver.requests.at(-1)!;
  };
  return { ...made, receiver, deliver };
}

const bodyOf = ({ body }: ReceivedRequest) => JSON.parse(body.toString());

/** Checks the signature as a customer of the first API version does. */
function isSignedWith(secret: string, { headers, body }: ReceivedRequest): boolean {
  const text = `${headers['x-webhook-timestamp']}.${body.toString()}`;
  return (
    createHmac('sha256', secret).update(text, 'utf8').digest('base64') === headers['x-webhook-signature']
  );
}

test('the names of the first version stand for these types, and a v2 webhook names its own', () => {
  const typesOf = (names: LegacyEvent[]) => [...subscribedTypes({ apiVersion: null, events: names })];
  expect(typesOf(['delivery_receipt'])).toEqual(['sms.delivered', 'sms.failed', 'sms.cancelled']);
  expect(typesOf(['inbound'])).toEqual(['sms.received']);
  expect(typesOf(['inbound', 'delivery_receipt'])).toHaveLength(4);
  const v2 = { apiVersion: '2026-11-01', events: [...eventTypes] };
  expect([...subscribedTypes(v2)]).toEqual(eventTypes);
});

test('a message that was delivered is a receipt', async () => {
  const hook = await start(['delivery_receipt']);
  const data = message();
  const event = await record('sms.delivered', data);
  expect(bodyOf(await hook.deliver())).toStrictEqual({
    id: event.id,
    timestamp: event.occurredAt.toISOString(),
    workspaceId: own.workspaceId,
    eventType: 1,
    data: {
      messageId: data.id,
      clientReference: 'order-7',
      deliveryStatus: 'delivered',
      errorCode: null,
      processedAt: data.sentAt,
      deliveredAt: data.deliveredAt,
      smsParts: 2,
      costGbp: '0.0700',
      costEur: null,
    },
  });
});

test.each<[EventType, object, object]>([
  [
    'sms.failed',
    {
      reason: { category: 'undeliverable', code: 'unknown_subscriber', description: null, retryable: false },
    },
    { deliveryStatus: 'failed', errorCode: 'unknown_subscriber', deliveredAt: null },
  ],
  [
    'sms.cancelled',
    { sentAt: null, cost: null, clientReference: null },
    { deliveryStatus: 'cancelled', errorCode: null, processedAt: null, costGbp: null, clientReference: null },
  ],
])('%s is a receipt that says so', async (type, changes, expected) => {
  const hook = await start(['delivery_receipt']);
  await record(type, message({ status: type.slice(4), deliveredAt: null, ...changes }));
  expect(bodyOf(await hook.deliver())).toMatchObject({ eventType: 1, data: expected });
});

test('an inbound message names the number that it came to and whom it came from', async () => {
  const hook = await start(['inbound']);
  const data = message({
    direction: 'inbound',
    status: 'received',
    sender: '+447700900007',
    recipient: '+447700900123',
    content: 'Yes – bitte 🙂',
  });
  const event = await record('sms.received', data);
  expect(bodyOf(await hook.deliver())).toStrictEqual({
    id: event.id,
    timestamp: event.occurredAt.toISOString(),
    workspaceId: own.workspaceId,
    eventType: 2,
    data: {
      messageId: data.id,
      inboundNumber: '+447700900123',
      sender: '+447700900007',
      body: 'Yes – bitte 🙂',
      receivedAt: data.createdAt,
    },
  });
});

test('it is signed over its time and its body, and not as a v2 delivery is', async () => {
  const hook = await start(['inbound']);
  await record('sms.received', message({ content: 'Ünï 🙂' }));
  const before = Math.floor(now().getTime() / 1000) - 1;
  const request = await hook.deliver();
  expect(request).toMatchObject({ method: 'POST', url: '/v1?a=b' });
  const timestamp = request.headers['x-webhook-timestamp']!;
  expect(timestamp).toMatch(/^\d{10}$/);
  expect(Number(timestamp)).toBeGreaterThanOrEqual(before);
  expect(Number(timestamp)).toBeLessThanOrEqual(before + 30);
  expect(isSignedWith(hook.secret!, request)).toBe(true);
  expect(isSignedWith(`${hook.secret}x`, request)).toBe(false);
  expect(isSignedWith(hook.secret!, { ...request, body: Buffer.from(`${request.body.toString()} `) })).toBe(
    false,
  );
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': (await deliveriesOf(hook.id)).at(-1)!.id,
  });
  for (const name of ['signature', 'signature-input', 'content-digest'])
    expect(request.headers).not.toHaveProperty(name);
});

test('a later attempt sends the same bytes, with a signature of its own time', async () => {
  const hook = await start(['inbound']);
  hook.receiver.respondWith({ status: 500 });
  await record('sms.received', message());
  const first = await hook.deliver();
  await advanceClock(301_000);
  const second = await hook.deliver();
  expect(hook.receiver.requests).toHaveLength(2);
  expect(second.body.equals(first.body)).toBe(true);
  expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
  expect(Number(second.headers['x-webhook-timestamp'])).toBeGreaterThan(
    Number(first.headers['x-webhook-timestamp']) + 290,
  );
  expect(isSignedWith(hook.secret!, second)).toBe(true);
});

test('after a rotation the new secret signs, and no other', async () => {
  const hook = await start(['inbound']);
  const caller = { workspaceId: own.workspaceId } as Parameters<typeof webhooks.rotateSecret>[0];
  const { secret } = await transaction(() => webhooks.rotateSecret(caller, hook.id));
  await record('sms.received', message());
  const request = await hook.deliver();
  expect(isSignedWith(secret!, request)).toBe(true);
  expect(isSignedWith(hook.secret!, request)).toBe(false);
});

test('only the events that it subscribes to are sent to it', async () => {
  const mine = await workspace();
  const [receipts, inbound] = [await start(['delivery_receipt'], mine), await start(['inbound'], mine)];
  for (const type of eventTypes) await record(type, message(), mine);
  const sent = async (id: string) => (await deliveriesOf(id)).map(({ eventType }) => eventType).toSorted();
  expect(await sent(receipts.id)).toEqual(['sms.cancelled', 'sms.delivered', 'sms.failed']);
  expect(await sent(inbound.id)).toEqual(['sms.received']);
});

test('a test goes to a legacy webhook in the form that it knows, of neither kind', async () => {
  const hook = await start([...legacyEvents]);
  const caller = { workspaceId: own.workspaceId } as Parameters<typeof webhooks.sendTest>[0];
  const event = await transaction(() => webhooks.sendTest(caller, hook.id, '2026-11-01'));
  await relay.relayAll();
  const request = await hook.deliver();
  expect(bodyOf(request)).toStrictEqual({
    id: event.id,
    timestamp: event.occurredAt,
    workspaceId: own.workspaceId,
    eventType: 0,
    data: event.data,
  });
  expect(isSignedWith(hook.secret!, request)).toBe(true);
});

test('a batch has no legacy event; its messages have their receipts', async () => {
  const other = await workspace();
  const hook = await start([...legacyEvents], other);
  const ofBatches = eventTypes.filter((type) => type.startsWith('batch.'));
  expect(ofBatches).toHaveLength(3);
  for (const type of ofBatches) await record(type, message({ id: newId('batch', now()) }), other);
  expect(await deliveriesOf(hook.id)).toEqual([]);
  const data = message({ batchId: newId('batch', now()) });
  await record('sms.delivered', data, other);
  expect(bodyOf(await hook.deliver()).data.messageId).toBe(data.id);
  expect(await deliveriesOf(hook.id)).toHaveLength(1);
});

test('it is made only for a url that a webhook may have', async () => {
  const make = (url: string) => webhooks.createLegacy(own.workspaceId, { url, events: ['inbound'] });
  for (const url of ['http://10.0.0.1/', 'https://user:pw@example.com/', 'ftp://example.com/'])
    await expect(make(url)).rejects.toMatchObject({ options: { errors: { url: [expect.any(String)] } } });
});

test('its secret is stored sealed', async () => {
  const hook = await start(['inbound']);
  const sql = 'SELECT secret FROM webhooks WHERE id = ?';
  const [row] = await query<{ secret: Buffer }[]>(sql, [idToBytes(hook.id)]);
  expect(row!['secret'].includes(Buffer.from(hook.secret!))).toBe(false);
});

test('a delivery that was first attempted as legacy keeps body, headers and secret for 72 hours after the conversion, then it is v2', async () => {
  const mine = await workspace();
  const made = await start(['delivery_receipt'], mine);
  const { receiver } = made;
  receiver.respondWith({ status: 500 });
  await record('sms.delivered', message(), mine);
  const again = async () => {
    const [delivery] = await deliveriesOf(made.id);
    await query('UPDATE webhook_deliveries SET due_at = ? WHERE id = ?', [now(), idToBytes(delivery!.id)]);
    await attempt(delivery!.id);
    return receiver.requests.at(-1)!;
  };
  const first = await again();
  const caller = { ...callerOf(mine), workspaceId: mine.workspaceId };
  const converted = await transaction(() =>
    webhooks.change(caller, made.id, {
      apiVersion: '2026-11-01',
      events: ['sms.delivered'],
      autoDisableExempt: true,
    }),
  );
  // A rotation of the new secret does not take the old one away.
  await transaction(() => webhooks.rotateSecret(caller, made.id));
  await advanceClock(71 * 3_600_000);
  const legacy = await again();
  expect(legacy.body.equals(first.body)).toBe(true);
  expect(legacy.headers).not.toHaveProperty('signature');
  expect(isSignedWith(made.secret!, legacy)).toBe(true);
  await advanceClock(2 * 3_600_000);
  const remade = await again();
  expect(remade.headers).not.toHaveProperty('x-webhook-signature');
  expect(labelsOf(remade)).toEqual({ sig: '3' });
  expect(JSON.parse(remade.body.toString())).toMatchObject({
    type: 'sms.delivered',
    apiVersion: '2026-11-01',
  });
  expect(converted.secretVersion).toBe(2);
});
