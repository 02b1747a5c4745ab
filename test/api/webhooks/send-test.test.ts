import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { deliveriesOf, makeWebhook, storeEvents } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { isSignedBy } from '../../support/servers/verify-delivery.ts';
import { answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { newUrl } from '../../support/servers/webhook-url.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

const send = (id: string, key: string) => api.request('POST', `/v2/webhooks/${id}/test`, { key });
const stopped = {
  paused: { active: 0 },
  'switched off': { active: 0, auto_disabled: 1 },
  active: {},
};

test.each(Object.entries(stopped))(
  'webhook.test goes to a webhook that is %s, to it alone, and into no feed; the answer is the event',
  async (_state, columns) => {
    const own = await workspace();
    const receiver = await startWebhookReceiver();
    const { id, secret } = await makeWebhook(own, receiver.url, ['email.sent']);
    const beside = await makeWebhook(own, `${receiver.url}/beside`, ['email.sent']);
    if (Object.keys(columns).length > 0)
      await query('UPDATE webhooks SET ? WHERE id = ?', [columns, idToBytes(id)]);
    const { status, body: event } = await send(id, own.key);
    expect(status).toBe(200);
    expect(event).toStrictEqual({
      id: expect.stringMatching(/^event_/),
      type: 'webhook.test',
      occurredAt: expect.stringMatching(/Z$/),
      apiVersion: '2026-11-01',
      workspaceId: own.workspaceId,
      data: { id, message: expect.any(String) },
    });
    await relay.relayAll();
    expect(await deliveriesOf(beside.id)).toEqual([]);
    const [delivery] = await deliveriesOf(id);
    await attempt(delivery!.id);
    const [request] = receiver.requests;
    expect(JSON.parse(request!.body.toString())).toStrictEqual(event);
    expect(await isSignedBy(request!, 'sig', secret!)).toBe(true);
    const listed = await api.request('GET', `/v2/webhooks/${id}/deliveries?eventType=webhook.test`, {
      key: own.key,
    });
    expect(listed.body.data).toMatchObject([{ eventId: event.id, status: 'delivered', attempts: 1 }]);
    const feed = await api.request('GET', '/v2/events', { key: own.key });
    expect(feed.body.data).toStrictEqual([]);
    expect((await api.request('GET', '/v2/events?types=webhook.test', { key: own.key })).status).toBe(400);
  },
);

test('tests at once are events of their own, in an order of their own', async () => {
  const own = await workspace();
  const { id } = await makeWebhook(own, newUrl());
  const sent = await Promise.all(Array.from({ length: 6 }, () => send(id, own.key)));
  expect(sent.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
  const rows = await query('SELECT record_seq FROM events WHERE record_id = ? ORDER BY record_seq', [
    idToBytes(id),
  ]);
  expect(rows.map((row) => row['record_seq'])).toEqual([1, 2, 3, 4, 5, 6]);
});

// Shows A5
test('the webhook of another workspace is not there, and gets nothing', async () => {
  const [own, other] = [await workspace(), await workspace()];
  const { id } = await makeWebhook(own, newUrl());
  expect((await send(id, other.key)).status).toBe(404);
  expect(await query('SELECT id FROM events WHERE record_id = ?', [idToBytes(id)])).toEqual([]);
});

test.each([
  [
    'active true',
    (id: string, key: string) => api.request('PATCH', `/v2/webhooks/${id}`, { key, body: { active: true } }),
  ],
  ['a test', send],
  [
    'a redelivery',
    async (id: string, key: string) => {
      const deliveryId = (await deliveriesOf(id))[0]!.id;
      return api.request('POST', `/v2/webhooks/${id}/deliveries/${deliveryId}/redeliver`, { key });
    },
  ],
])(
  '%s ends the pause of a 429, which the record shows, and what waits for its end is due now',
  async (_what, lift) => {
    const own = await workspace();
    const receiver = await startWebhookReceiver({ respond: answers.tooManyRequests('7200') });
    const { id } = await makeWebhook(own, receiver.url);
    await storeEvents(own, 3);
    await relay.relayAll();
    for (const delivery of await deliveriesOf(id)) await attempt(delivery.id);
    expect(receiver.requests).toHaveLength(1);
    const read = async (path = '') =>
      (await api.request('GET', `/v2/webhooks/${id}${path}`, { key: own.key })).body;
    const { pausedUntil } = await read();
    expect(Date.parse(pausedUntil)).toBeGreaterThan(now().getTime() + 7_000_000);
    for (const delivery of (await read('/deliveries')).data) expect(delivery.nextAttemptAt).toBe(pausedUntil);
    expect((await lift(id, own.key)).status).toBe(200);
    expect((await read()).pausedUntil).toBeNull();
    for (const delivery of (await read('/deliveries')).data)
      expect(Math.abs(Date.parse(delivery.nextAttemptAt) - now().getTime())).toBeLessThan(60_000);
  },
);
