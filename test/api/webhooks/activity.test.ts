import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { insertSettlement } from '../../../shared/db/webhooks/webhooks.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { makeWebhook } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { newUrl } from '../../support/servers/webhook-url.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const make = () => makeWebhook(own, newUrl());
const change = (id: string, body: unknown) =>
  api.request('PATCH', `/v2/webhooks/${id}`, { key: own.key, body });
const read = async (id: string) => (await api.request('GET', `/v2/webhooks/${id}`, { key: own.key })).body;

async function stored(id: string) {
  const [row] = await query<(Record<string, unknown> & { recovered_at: Date })[]>(
    'SELECT * FROM webhooks WHERE id = ?',
    [idToBytes(id)],
  );
  return row!;
}
const store = (id: string, columns: object) =>
  query('UPDATE webhooks SET ? WHERE id = ?', [columns, idToBytes(id)]);

const ago = (minutes: number) => new Date(now().getTime() - minutes * 60_000);
const switchedOff = () => ({
  active: 0,
  auto_disabled: 1,
  disabled_at: ago(1),
  failing_since: ago(360),
  last_failed_at: ago(2),
  consecutive_failures: 7,
  at_risk_warned_at: ago(300),
  paused_until: ago(-60),
});

test('active true after a switch-off starts afresh: no failures, no warning given, no pause', async () => {
  const made = await make();
  await store(made.id, switchedOff());
  expect(await read(made.id)).toMatchObject({ active: false, autoDisabled: true, consecutiveFailures: 7 });
  const before = now();
  const { body } = await change(made.id, { active: true });
  expect(body).toStrictEqual({ ...made, secret: null });
  const row = await stored(made.id);
  for (const column of ['disabled_at', 'failing_since', 'last_failed_at', 'at_risk_warned_at'])
    expect([column, row[column]]).toEqual([column, null]);
  expect(row.recovered_at.getTime()).toBeGreaterThanOrEqual(before.getTime() - 250);
  // From the end of the pause on, the backlog of the webhook is let out slowly.
  expect(row['paused_until']).toEqual(row.recovered_at);
});

test('active true keeps what is still pending from being skipped', async () => {
  const made = await make();
  const other = await make();
  await store(made.id, switchedOff());
  for (const webhookId of [made.id, other.id])
    for (const kind of ['skip', 'recover'] as const)
      await insertSettlement(own.workspaceId, { webhookId, kind, since: null, createdAt: now() });
  const kinds = async (id: string) => {
    const rows = await query('SELECT kind FROM webhook_settlements WHERE webhook_id = ? ORDER BY kind', [
      idToBytes(id),
    ]);
    return rows.map((row) => row['kind']);
  };
  await change(made.id, { description: 'not yet' });
  expect(await kinds(made.id)).toEqual(['recover', 'skip']);
  await change(made.id, { active: true });
  expect(await kinds(made.id)).toEqual(['recover']);
  expect(await kinds(other.id)).toEqual(['recover', 'skip']);
});

test('active true on a failing webhook forgets its failures, and ends the pause that its endpoint asked for', async () => {
  const made = await make();
  const pausedUntil = ago(-60);
  await store(made.id, {
    ...switchedOff(),
    active: 1,
    auto_disabled: 0,
    disabled_at: null,
    paused_until: pausedUntil,
  });
  const { body } = await change(made.id, { active: true });
  expect(body).toMatchObject({ active: true, failingSince: null, consecutiveFailures: 0 });
  const row = await stored(made.id);
  expect(body.pausedUntil).toBeNull();
  expect(row).toMatchObject({ busy_count: 0, at_risk_warned_at: null });
  expect(row.recovered_at).not.toBeNull();
  expect(row['paused_until']).toEqual(row.recovered_at);
});

test('active true on a webhook in good health does not slow it down', async () => {
  const made = await make();
  await change(made.id, { active: true });
  expect(await stored(made.id)).toMatchObject({ recovered_at: null, paused_until: null });
});

test('active true during a slow start does not end it', async () => {
  const made = await make();
  const pausedUntil = ago(0.1);
  await store(made.id, { paused_until: pausedUntil });
  await change(made.id, { active: true });
  expect((await stored(made.id))['paused_until']).toEqual(pausedUntil);
});

test('a change that does not say active leaves a switched-off webhook off, with its failures', async () => {
  const made = await make();
  const columns = switchedOff();
  await store(made.id, columns);
  const { body } = await change(made.id, { url: 'https://example.org/', autoDisableAfterMinutes: 5 });
  expect(body).toMatchObject({ active: false, autoDisabled: true, consecutiveFailures: 7 });
  expect(await stored(made.id)).toMatchObject(columns);
});

test('active false is the customer’s own pause, and active true ends it', async () => {
  const made = await make();
  expect((await change(made.id, { active: false })).body).toMatchObject({
    active: false,
    autoDisabled: false,
  });
  expect((await change(made.id, { active: true })).body).toMatchObject({ active: true, autoDisabled: false });
  expect((await stored(made.id))['recovered_at']).not.toBeNull();
});
