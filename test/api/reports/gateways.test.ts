import { beforeAll, beforeEach, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { reportGateways } from '../../../shared/db/migrations/0042_report_gateways.ts';
import * as reports from '../../../shared/domain/reports/reports.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { advanceText, countAll, textAt, textsAt } from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  // The date that is fixed here must not be too old to be counted.
  changeSettings({ SMS_RETENTION_DAYS: 9_000 });
  own = await workspace();
});

const day = '2026-07-01';
const at = (text: string) => new Date(text);
const ask = (report: string, query = '', headers: Record<string, string> = {}) =>
  api.request('GET', `/v2/reports/${report}?${query}`, { key: own.key, headers });

test('countries and latency are told by gateway, and what failed by error code', async () => {
  const time = at(`${day}T10:00:00Z`);
  const reason = (code: string) =>
    ({ category: 'failed', code, description: null, retryable: false }) as const;
  const send = async (gateway: string) =>
    advanceText(await textAt(own, time, {}), 'sent', { at: time, gateway });
  for (const code of ['expired', 'undeliverable', 'expired'])
    await advanceText(await send('acme'), 'failed', { at: time, reason: reason(code) });
  await advanceText(await send('acme'), 'delivered', { at: time });
  await advanceText(await send('other'), 'delivered', { at: time });
  // One text is refused, so it was never sent; another one never reached a gateway.
  const refused = { at: time, gateway: 'other', reason: reason('esme_rinvdstadr') };
  await advanceText(await textAt(own, time, {}), 'failed', refused);
  await textAt(own, time, {});
  await countAll();
  const query = `from=${day}&to=2026-07-02&channel=sms`;
  const { data } = (await ask('countries', query)).body;
  expect(data).toMatchObject([
    {
      country: 'GB',
      gateway: 'acme',
      accepted: 4,
      delivered: 1,
      failed: 3,
      deliveredRate: '0.2500',
      errors: [
        { errorCode: 'expired', messages: 2 },
        { errorCode: 'undeliverable', messages: 1 },
      ],
    },
    { gateway: 'other', accepted: 2, delivered: 1, errors: [{ errorCode: 'esme_rinvdstadr', messages: 1 }] },
    { gateway: null, accepted: 1, queued: 1, errors: [] },
  ]);
  const csv = (await ask('countries', query, { Accept: 'text/csv' })).body.split('\r\n');
  expect(csv[0]).toMatch(/^country,gateway,channel,accepted,.*,deliveredRate,errors$/);
  expect(csv[1]).toMatch(/^GB,acme,sms,4,.*,0\.2500,expired=2; undeliverable=1$/);
  expect(csv[3]).toMatch(/^GB,,sms,1,.*,0\.0000,$/);
  const latency = (await ask('latency', query)).body.data;
  expect(latency.map(({ kind, gateway, sent }: any) => [kind, gateway, sent.count])).toEqual([
    ['single', 'acme', 4],
    ['single', 'other', 1],
  ]);
});

test('counts of before, which name no gateway, give way to those of the messages', async () => {
  const time = at(`${day}T10:00:00Z`);
  const sent = await advanceText(await textAt(own, time, {}), 'sent', { at: time, gateway: 'acme' });
  await textAt(own, time, {});
  await countAll();
  const id = idToBytes(own.workspaceId);
  const inPlace = async (hours: string) => (await ask('countries', `from=${day}&to=${hours}`)).body.data;
  const now = await inPlace('2026-07-02');
  // Stores the counts as the previous version did, and takes them over as the migration does.
  await query("DELETE FROM report_counts WHERE workspace_id = ? AND dimension = 'route'", [id]);
  await query(reportGateways.up.find((sql) => sql.includes("'route', CONCAT"))!);
  await query("UPDATE report_states SET counted = REPLACE(counted, ' ', '') WHERE workspace_id = ?", [id]);
  await query("UPDATE report_latencies SET gateway = '' WHERE workspace_id = ?", [id]);
  expect(await inPlace('2026-07-02')).toMatchObject([{ country: 'GB', gateway: null, accepted: 2 }]);
  await advanceText(sent, 'delivered', { at: time });
  await countAll();
  expect(await inPlace('2026-07-02')).toMatchObject([
    { gateway: null, accepted: 1, sent: 0 },
    { gateway: 'acme', accepted: 1, delivered: 1 },
  ]);
  await reports.rebuild(own.workspaceId, time, at('2026-07-02'));
  expect(await inPlace('2026-07-02')).toMatchObject(
    now.map(({ gateway }: any) => ({ gateway, accepted: 1 })),
  );
  expect((await ask('latency', `from=${day}&to=2026-07-02`)).body.data).toMatchObject([
    { gateway: 'acme', sent: { count: 1 }, delivered: { count: 1 } },
  ]);
});

// Shows A71
test('error codes past the two hundredth of a day count together, whatever the carrier makes up', async () => {
  const time = at(`${day}T10:00:00Z`);
  const reason = (code: string) =>
    ({ category: 'failed', code, description: null, retryable: false }) as const;
  const failed = await textsAt(
    own,
    time,
    Array.from({ length: 203 }, (_, index) => ({
      status: 'failed',
      reason: reason(`made-up-${index}`),
      sentAt: time,
      eventSeq: 3,
    })),
  );
  // A new text has no gateway, so `textsAt` stores none.
  await query("UPDATE sms_messages SET gateway = 'acme' WHERE workspace_id = ?", [
    idToBytes(own.workspaceId),
  ]);
  const sent = failed.map((text) => ({
    ...text,
    status: 'sent' as const,
    reason: null,
    gateway: 'acme',
    eventSeq: 2,
  }));
  await countAll();
  const counts = async () => {
    const rows = await query<{ value: Buffer; accepted: number }[]>(
      `SELECT value, accepted FROM report_counts
       WHERE workspace_id = ? AND dimension = 'error' AND span = 'day' AND accepted <> 0`,
      [idToBytes(own.workspaceId)],
    );
    return new Map(rows.map(({ value, accepted }) => [String(value).slice('GB acme '.length), accepted]));
  };
  const first = await counts();
  expect([first.size, first.get('(other)'), first.get('made-up-0')]).toEqual([201, 3, 1]);
  // A text fails only once, so the first failure's event must go before it can fail a second time.
  await query("DELETE FROM events WHERE workspace_id = ? AND type = 'sms.failed'", [
    idToBytes(own.workspaceId),
  ]);
  // The first text was counted in "(other)" and is taken back from there; the second is taken back from its own code.
  for (const [from, to] of [
    [202, 'made-up-7'],
    [0, 'made-up-300'],
  ] as const)
    await advanceText(sent[from]!, 'failed', { at: time, reason: reason(to) });
  await countAll();
  const changed = await counts();
  const some = ['(other)', 'made-up-0', 'made-up-7'].map((code) => changed.get(code));
  expect([changed.size, ...some]).toEqual([200, 3, undefined, 2]);
  await reports.rebuild(own.workspaceId, time, at('2026-07-02'));
  expect(await counts()).toEqual(changed);
  const [row] = (await ask('countries', `from=${day}&to=2026-07-02`)).body.data;
  expect(row.errors).toHaveLength(20);
  expect(row.errors[0]).toEqual({ errorCode: '(other)', messages: 3 });
});
