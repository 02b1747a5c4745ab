import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { processlist } from '../../shared/db/client/time-limit.ts';
import { query, transaction } from '../../shared/db/client.ts';
import { insertEvents } from '../../shared/db/events/events.system.ts';
import { make } from '../../shared/domain/events/events.ts';
import * as relay from '../../shared/domain/events/relay.ts';
import { idFromBytes, idToBytes, newId } from '../../shared/formats/ids.ts';
import { deliverWebhook } from '../../shared/jobs/deliver-webhook.ts';
import type { EventType } from '../../shared/schemas/events.ts';
import { acceptEmail } from '../support/data/accepted-email.ts';
import {
  alterWebhook,
  deliveriesInJobs,
  deliveriesOf,
  makeWebhook,
  nowhere,
} from '../support/data/deliveries.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';
import { lockTable } from '../support/database/lock-table.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { waitFor, waitUnlessAnswered } from '../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});
// Each test begins without events that still need a position.
beforeEach(async () => {
  changeSettings({ RELAY_BATCH: 1000 });
  await relay.relayAll();
});

type Written = { id: string; recordId: string; seq: number };

/** Stores events with ids in the order given, whatever their records and sequences. */
async function write(
  events: { recordId: string; seq: number }[],
  { workspaceId } = own,
  type: EventType = 'sms.sent',
): Promise<Written[]> {
  const made = events.map(({ recordId, seq }) => make(type, { id: recordId, seq, data: {} }, now()));
  await insertEvents(made.map((event) => ({ workspaceId, event })));
  return made.map(({ id }, index) => ({ id, ...events[index]! }));
}
const record = () => newId('sms', now());
const singles = (count: number) => Array.from({ length: count }, () => ({ recordId: record(), seq: 1 }));

/** The numbered events, by position. */
async function numbered(): Promise<{ id: string; position: number }[]> {
  const rows = await query<{ id: Buffer; position: number }[]>(
    'SELECT id, position FROM events WHERE position IS NOT NULL ORDER BY position',
  );
  return rows.map((row) => ({ id: idFromBytes('event', row.id), position: row.position }));
}
const unnumbered = async () =>
  Number((await query('SELECT COUNT(*) AS n FROM events WHERE position IS NULL'))[0]!['n']);

async function expectGapless(): Promise<void> {
  const positions = (await numbered()).map(({ position }) => position);
  expect(positions).toEqual(positions.map((_, index) => index + 1));
  const [counter] = await query("SELECT value FROM counters WHERE name = 'events.position'");
  expect(Number(counter!['value'])).toBe(positions.length);
}

test('every committed event gets the next position, in the order of their ids', async () => {
  const before = (await numbered()).length;
  const written = await write(singles(25));
  expect(await relay.relayAll()).toBe(25);
  expect((await numbered()).slice(before).map(({ id }) => id)).toEqual(written.map(({ id }) => id));
  await expectGapless();
  expect(await relay.relayAll()).toBe(0);
});

test('what is rolled back leaves no gap, and what is not yet committed is not numbered', async () => {
  await write(singles(2));
  const { promise: relayed, resolve: go } = Promise.withResolvers<void>();
  const open = transaction(async () => {
    await write(singles(1));
    await relayed;
    throw new Error('changed my mind');
  });
  await write(singles(2));
  expect(await relay.relayAll()).toBe(4);
  go();
  await expect(open).rejects.toThrow('changed my mind');
  await write(singles(1));
  expect(await relay.relayAll()).toBe(1);
  await expectGapless();
});

test('many relays at once number every event once, without a gap', async () => {
  changeSettings({ RELAY_BATCH: 7 });
  await write(singles(150));
  const writing = (async () => {
    for (let count = 0; count < 20; count += 1) await write(singles(3));
  })();
  const relayed = await Promise.all(Array.from({ length: 8 }, () => relay.relayAll()));
  await writing;
  const rest = await relay.relayAll();
  expect(relayed.reduce((sum, count) => sum + count, rest)).toBe(210);
  await expectGapless();
  expect(await unnumbered()).toBe(0);
});

test('where ids contradict the sequence of a record, the sequence wins', async () => {
  const [a, b] = [record(), record()];
  const before = (await numbered()).length;
  const [a2, b1, a3, a1, b2] = await write([
    { recordId: a, seq: 2 },
    { recordId: b, seq: 1 },
    { recordId: a, seq: 3 },
    { recordId: a, seq: 1 },
    { recordId: b, seq: 2 },
  ]);
  await relay.relayAll();
  expect((await numbered()).slice(before).map(({ id }) => id)).toEqual(
    [a1, b1, a2, a3, b2].map((one) => one!.id),
  );
});

test('an earlier event of a record that a full batch has cut off is taken in', async () => {
  changeSettings({ RELAY_BATCH: 3 });
  const a = record();
  const written = await write([
    { recordId: a, seq: 3 },
    ...singles(2),
    ...singles(4),
    { recordId: a, seq: 2 },
    { recordId: a, seq: 1 },
  ]);
  await relay.relayAll();
  const order = (await numbered()).map(({ id }) => id);
  const places = [1, 2, 3].map((seq) =>
    order.indexOf(written.find((one) => one.recordId === a && one.seq === seq)!.id),
  );
  expect(places).toEqual(places.toSorted((x, y) => x - y));
  await expectGapless();
});

test('no event passes a webhook that was changed before it, while a full batch is read', async () => {
  changeSettings({ RELAY_BATCH: 1 });
  const mine = await workspace();
  for (let count = 0; count < 20; count += 1) await makeWebhook(mine, nowhere, ['sms.sent']);
  const { id } = await makeWebhook(mine, nowhere, ['email.queued']);
  const recordId = record();
  await write([{ recordId, seq: 1 }], mine);
  await relay.relayAll();
  await write([{ recordId, seq: 2 }], mine);
  // These deliveries fill the batch. The relay then looks for other workspaces, after it has read the webhooks of this one.
  const unlock = await lockTable('workspaces');
  const relayed = relay.relayAll();
  const waiting = () =>
    query(`SELECT id FROM ${processlist} WHERE db = DATABASE() AND state LIKE 'Waiting for table%'`);
  const isReading = waitFor('the relay waits', async () => (await waiting()).length > 0);
  await waitUnlessAnswered([relayed], isReading);
  await alterWebhook(id, { events: '["sms.sent"]' });
  const [later] = await write([{ recordId, seq: 3 }], mine);
  await unlock();
  expect(await relayed).toBe(2);
  expect(await deliveriesOf(id)).toMatchObject([{ eventId: later!.id }]);
  await expectGapless();
});

test('a backlog of events with very many deliveries lets the events of other workspaces pass', async () => {
  changeSettings({ RELAY_BATCH: 10 });
  const [crowd, quiet] = [await workspace(), await workspace()];
  const webhooks: string[] = [];
  for (let count = 0; count < 30; count += 1)
    webhooks.push((await makeWebhook(crowd, nowhere, ['sms.sent'])).id);
  const { id: other } = await makeWebhook(quiet, nowhere, ['sms.sent']);
  const before = (await numbered()).length;
  const [record1, record2] = [record(), record()];
  const many = await write(
    [...singles(40), ...[2, 1].map((seq) => ({ recordId: record1, seq })), ...singles(40)],
    crowd,
  );
  const few = await write(
    [2, 1].map((seq) => ({ recordId: record2, seq })),
    quiet,
  );
  // The index has these before the older ones.
  await write(singles(25), quiet, 'email.sent');
  expect(await relay.relayAll()).toBe(109);
  const order = (await numbered()).slice(before).map(({ id }) => id);
  const places = (events: Written[]) =>
    events.toSorted((one, next) => one.seq - next.seq).map(({ id }) => order.indexOf(id));
  // 200 rows fit into the first batch: some six events of the crowd, and both of the other workspace.
  expect(Math.max(...places(few))).toBeLessThan(10);
  for (const events of [few, many.filter(({ recordId }) => recordId === record1)])
    expect(places(events)).toEqual(places(events).toSorted((one, next) => one - next));
  await expectGapless();
  expect(await deliveriesOf(other)).toHaveLength(2);
  for (const id of webhooks) expect(await deliveriesOf(id)).toHaveLength(82);
});

test('no position is committed where there can be no deliveries', async () => {
  const mine = await workspace();
  const { id } = await makeWebhook(mine, 'http://127.0.0.1:1/', ['email.queued']);
  await acceptEmail(mine);
  const before = await numbered();
  await query("UPDATE webhooks SET events = '[' WHERE id = ?", [idToBytes(id)]);
  await expect(relay.relayAll()).rejects.toThrow();
  expect(await numbered()).toEqual(before);
  expect(await deliveriesOf(id)).toEqual([]);
  await query('UPDATE webhooks SET events = \'["email.queued"]\' WHERE id = ?', [idToBytes(id)]);
  expect(await relay.relayAll()).toBe(1);
  expect(await deliveriesOf(id)).toHaveLength(1);
  await expectGapless();
});

test('deliveries that were committed ahead of positions that were not are met again, and none is made twice', async () => {
  const mine = await workspace();
  const webhooks = [
    await makeWebhook(mine, 'http://127.0.0.1:1/', ['sms.sent']),
    await makeWebhook(mine, 'http://127.0.0.1:2/', ['sms.sent']),
  ];
  const written = await write(singles(400), mine);
  const before = await numbered();
  await query('RENAME TABLE event_marks TO event_marks_away');
  await expect(relay.relayAll()).rejects.toThrow('event_marks');
  await query('RENAME TABLE event_marks_away TO event_marks');
  expect(await numbered()).toEqual(before);
  const ahead = await Promise.all(webhooks.map(({ id }) => deliveriesOf(id)));
  expect(ahead.map(({ length }) => length)).toEqual([400, 400]);
  // The rows are as if one of the statements had not been carried out.
  await query('DELETE FROM webhook_deliveries WHERE webhook_id = ? LIMIT 130', [idToBytes(webhooks[0]!.id)]);

  expect(await relay.relayAll()).toBe(400);
  await expectGapless();
  for (const [index, { id }] of webhooks.entries()) {
    const deliveries = await deliveriesOf(id);
    expect(new Set(deliveries.map(({ eventId }) => eventId))).toEqual(new Set(written.map((one) => one.id)));
    expect(deliveries).toHaveLength(400);
    const kept = new Set(ahead[index]!.map((one) => one.id));
    expect(deliveries.filter((one) => kept.has(one.id))).toHaveLength(index === 0 ? 270 : 400);
    const inJobs = new Set(await deliveriesInJobs([deliverWebhook.lanes.first]));
    expect(deliveries.filter((one) => inJobs.has(one.id))).toHaveLength(400);
  }
});

test('a delivery is due at once, once for each event and webhook, and knows its request', async () => {
  const mine = await workspace();
  const { id } = await makeWebhook(mine, 'http://127.0.0.1:1/', ['email.queued']);
  await Promise.all([acceptEmail(mine), acceptEmail(mine), acceptEmail(mine)]);
  await Promise.all([relay.relayAll(), relay.relayAll(), relay.relayAll()]);
  const deliveries = await deliveriesOf(id);
  expect(deliveries).toHaveLength(3);
  expect(new Set(deliveries.map(({ eventId }) => eventId)).size).toBe(3);
  for (const delivery of deliveries) {
    expect(delivery).toMatchObject({ status: 'pending', attempts: 0, parked: false, completedAt: null });
    expect(delivery.dueAt!.getTime()).toBeLessThanOrEqual(now().getTime() + 1000);
  }
});

test('the job numbers what is committed without being asked', async () => {
  const workers = await runWorkers(['relay-events']);
  await acceptEmail(own);
  await waitFor('the event has its position', async () => (await unnumbered()) === 0);
  await expectGapless();
  await workers.stop();
});
