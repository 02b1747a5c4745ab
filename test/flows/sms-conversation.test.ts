import type { Event, Schema } from 'messaging-service/client';
import { beforeAll, expect, test } from 'vitest';
import * as senders from '../../shared/domain/senders/senders.ts';
import * as prices from '../../shared/domain/sms/prices.ts';
import * as webhooks from '../../shared/domain/webhooks/webhooks.ts';
import { customerOf } from '../support/api/customer.ts';
import { startApi } from '../support/api/start-api.ts';
import { textingWorkspace } from '../support/data/new-sms.ts';
import { useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

type Own = Awaited<ReturnType<typeof textingWorkspace>>;
let url: string;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 0, WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.0/8'] });
  ({ url } = await startApi());
  await prices.load('country,gbp,eur,validFrom\nGB,0.0345,0.0412,2020-01-01\n');
  await runWorkers();
});

const recipient = '+447700900150';
/** Sends a text from the phone of the recipient. */
const say = (as: Own, content: string, more: { to?: string } = {}) =>
  customerOf(url, as).post('/v2/simulator/phones/{number}/messages', {
    path: { number: '07700900150' },
    body: { content, ...more },
  });
const send = (as: Own, body: Schema<'NewSms'>) => customerOf(url, as).post('/v2/sms', { body });
const bodiesAt = (receiver: WebhookReceiver) =>
  receiver.requests.map(({ body }) => JSON.parse(body.toString()));

test('a conversation: sent, delivered, STOP, the next refused, START, accepted again; the webhook hears of all of it', async () => {
  const own = await textingWorkspace();
  const text = (content: string) => send(own, { recipient, content });
  const receiver = await startWebhookReceiver();
  await customerOf(url, own).post('/v2/webhooks', {
    body: {
      url: `${receiver.url}/all`,
      events: ['sms.queued', 'sms.sent', 'sms.delivered', 'sms.received', 'suppression.created'],
    },
  });

  const first = await text('Are you in?');
  const heard = (): Event[] => bodiesAt(receiver);
  const of = (id: string) => () =>
    heard()
      .filter(({ data }) => 'id' in data && data.id === id)
      .map(({ type }) => type);
  // Deliveries to a webhook come in any order, so the last event may be there before the one in the middle.
  await waitFor('the webhook hears of all three', () => of(first.id)().length >= 3);
  expect(of(first.id)().toSorted()).toEqual(['sms.delivered', 'sms.queued', 'sms.sent']);

  const stop = await say(own, 'Stop');
  expect(stop).toMatchObject({ status: 'received', inReplyTo: first.id });
  const told = await waitFor('the webhook hears of STOP', () =>
    heard().find((event) => event.type === 'suppression.created'),
  );
  expect(told.data).toMatchObject({ number: recipient, source: 'stop', scope: 'all' });
  await waitFor('and of the text itself', () => of(stop.id)().includes('sms.received'));

  await expect(text('Hello')).rejects.toMatchObject({ status: 422, code: 'recipient_suppressed' });

  await say(own, 'START');
  const again = await text('Hello');
  await waitFor('it is delivered', () => of(again.id)().includes('sms.delivered'));
  // Webhooks promise delivery at least once; without faults it is exactly once.
  const ids = heard().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('a webhook for one number hears of the texts to that number only', async () => {
  const own = await textingWorkspace();
  const number = await senders.addNumber(own.workspaceId);
  await senders.assignNumber(number.id, '+447407000020');
  const receiver = await startWebhookReceiver();
  await customerOf(url, own).post('/v2/webhooks', {
    body: { url: receiver.url, events: ['sms.received'], inboundNumber: '+447407000020' },
  });
  await say(own, 'To the name', { to: 'Acme' });
  const { id } = await say(own, 'To the number', { to: '+447407000020' });
  await receiver.waitFor(1);
  const [event] = bodiesAt(receiver);
  expect(event.data).toMatchObject({
    id,
    recipient: '+447407000020',
    sender: recipient,
    content: 'To the number',
  });
  expect(receiver.requests).toHaveLength(1);
});

test('a legacy webhook gets the receipt of a message and the reply to it, in the form of the first version', async () => {
  const own = await textingWorkspace();
  const receiver = await startWebhookReceiver();
  await webhooks.createLegacy(own.workspaceId, {
    url: `${receiver.url}/v1`,
    events: ['delivery_receipt', 'inbound'],
  });
  const sent = await send(own, { recipient, content: 'Hello', clientReference: 'order-7' });
  await receiver.waitFor(1);
  const failed = await send(own, { recipient: '+447700900002', content: 'Hello' });
  await receiver.waitFor(2);
  const reply = await say(own, 'Yes');
  await receiver.waitFor(3);

  const [delivered, notDelivered, inbound] = bodiesAt(receiver);
  expect(delivered).toMatchObject({
    eventType: 1,
    workspaceId: own.workspaceId,
    data: {
      messageId: sent.id,
      clientReference: 'order-7',
      deliveryStatus: 'delivered',
      errorCode: null,
      smsParts: 1,
      costGbp: '0.0345',
      costEur: '0.0412',
    },
  });
  expect(delivered.data.deliveredAt).toMatch(/Z$/);
  expect(delivered.data.processedAt).toMatch(/Z$/);
  expect(notDelivered).toMatchObject({
    eventType: 1,
    data: { messageId: failed.id, deliveryStatus: 'failed', errorCode: 'unknown_subscriber' },
  });
  expect(inbound).toMatchObject({
    eventType: 2,
    data: { messageId: reply.id, sender: recipient, inboundNumber: 'Acme', body: 'Yes' },
  });
});
