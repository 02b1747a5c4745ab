import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import * as reports from '../../../shared/domain/reports/reports.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import {
  advanceEmail,
  advanceText,
  copyEmail,
  countAll,
  emailAt,
  textAt,
  textsAt,
} from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  // The dates that are fixed here must not be too old to be counted.
  changeSettings({ EMAIL_RETENTION_DAYS: 9_000, SMS_RETENTION_DAYS: 9_000 });
  own = await workspace();
});

const hourMs = 3_600_000;
const day = '2026-07-01';
const at = (text: string) => new Date(text);
const ask = (report: string, query = '', headers: Record<string, string> = {}) =>
  api.request('GET', `/v2/reports/${report}?${query}`, { key: own.key, headers });

test('days are those of the time zone, also where the clocks change', async () => {
  // 23 hours in London: clocks go from 01:00 to 02:00 in the night of 29 March.
  await emailAt(own, at('2026-03-29T22:30:00Z'), {});
  await emailAt(own, at('2026-03-29T23:30:00Z'), {});
  await countAll();
  const { body } = await ask('sends', 'from=2026-03-29&to=2026-03-31&timeZone=Europe/London&channel=email');
  expect(body).toMatchObject({
    from: '2026-03-29T00:00:00.000Z',
    to: '2026-03-30T23:00:00.000Z',
    timeZone: 'Europe/London',
    timeZoneRounded: false,
    nextCursor: null,
  });
  expect(body.data.map(({ start, accepted }: any) => [start, accepted])).toEqual([
    ['2026-03-29T00:00:00.000Z', 1],
    ['2026-03-29T23:00:00.000Z', 1],
  ]);
});

test('a zone whose days begin within an hour is rounded down to the hour, and the answer says so', async () => {
  const { body } = await ask('sends', `from=${day}&to=2026-07-03&timeZone=Asia/Kolkata&channel=sms`);
  expect(body).toMatchObject({
    from: '2026-06-30T18:00:00.000Z',
    to: '2026-07-02T18:00:00.000Z',
    timeZoneRounded: true,
  });
  expect(body.data).toHaveLength(2);
  expect((await ask('sends', `from=${day}&to=2026-07-03`)).body.timeZoneRounded).toBe(false);
});

test('a time without messages is rows of zeros, for each channel', async () => {
  const { body } = await ask('sends', `from=${day}T00:00:00Z&to=${day}T03:00:00Z&interval=hour`);
  expect(body.data).toHaveLength(6);
  expect(body.data[1]).toEqual({
    start: '2026-07-01T00:00:00.000Z',
    channel: 'sms',
    accepted: 0,
    queued: 0,
    held: 0,
    sent: 0,
    delivered: 0,
    failed: 0,
    cancelled: 0,
    parts: 0,
    cost: { gbp: '0.0000', eur: '0.0000' },
  });
  for (const report of ['client-tags', 'countries', 'latency', 'email-deliverability'])
    expect((await ask(report)).body.data).toEqual([]);
});

test('months, days and hours of a long stretch add up to all of its messages, wherever it begins', async () => {
  const times = [
    '2026-01-31T23:00:00Z',
    '2026-02-01T00:00:00Z',
    '2026-05-15T12:00:00Z',
    '2026-07-02T01:30:00Z',
  ];
  for (const time of times) await textAt(own, at(time), { clientTag: 'year' });
  await countAll();
  const accepted = async (from: string, to: string) =>
    (await ask('client-tags', `from=${from}&to=${to}`)).body.data[0]?.accepted ?? 0;
  expect(await accepted('2026-01-31T23:00:00Z', '2026-07-02T02:00:00Z')).toBe(4);
  expect(await accepted('2026-02-01T00:00:00Z', '2026-07-02T02:00:00Z')).toBe(3);
  expect(await accepted('2026-02-01T01:00:00Z', '2026-07-02T02:00:00Z')).toBe(2);
  expect(await accepted('2026-02-01T01:00:00Z', '2026-07-02T01:00:00Z')).toBe(1);
  expect(await accepted('2026-05-15T13:00:00Z', '2026-07-02T01:00:00Z')).toBe(0);
});

// Shows A68
test.each([
  ['from=2026-07-02&to=2026-07-01', 'from'],
  ['from=2026-07-01&to=2026-07-01', 'from'],
  ['from=2025-01-01&to=2026-07-01', 'from'],
  ['from=2026-02-30', 'from'],
  ['to=yesterday', 'to'],
  ['timeZone=Mars/Olympus', 'timeZone'],
  ['timeZone=%2B01:00', 'timeZone'],
  ['channel=fax', 'channel'],
])('%s is refused by its name', async (query, field) => {
  const { status, body } = await ask('client-tags', query);
  expect([status, Object.keys(body.errors)]).toEqual([400, [field]]);
});

// Shows A69
test('hours are for at most 31 days, and a bound at the ends of time fails at nothing', async () => {
  const { status, body } = await ask('sends', 'from=2026-05-01&to=2026-07-01&interval=hour');
  expect([status, Object.keys(body.errors)]).toEqual([400, ['interval']]);
  for (const zone of ['UTC', 'Pacific/Apia', 'Africa/Monrovia']) {
    for (const query of [
      'from=9999-12-01&to=9999-12-31T23:59:59Z',
      'from=1970-01-03&to=1970-02-01',
      'to=1970-01-03',
    ])
      expect((await ask('sends', `${query}&timeZone=${zone}`)).status).toBe(200);
    expect((await ask('sends', `to=0000-01-31&timeZone=${zone}`)).body.errors).toHaveProperty('to');
  }
});

// Shows A70
test('CSV has the same rows, and no cell that a spreadsheet would carry out', async () => {
  await textAt(own, at(`${day}T10:00:00Z`), { clientTag: '-2-3' });
  await textAt(own, at(`${day}T10:00:00Z`), { clientTag: null });
  await countAll();
  const query = `from=${day}&to=2026-07-02&channel=sms`;
  const { headers, body } = await ask('client-tags', query, { Accept: 'text/csv' });
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(headers['vary']).toContain('Accept');
  expect(body).toBe(
    [
      'clientTag,channel,accepted,queued,held,sent,delivered,failed,cancelled,parts,cost.gbp,cost.eur,deliveredRate',
      ',sms,1,1,0,0,0,0,0,1,0.0400,0.0460,0.0000',
      "'-2-3,sms,1,1,0,0,0,0,0,1,0.0400,0.0460,0.0000",
      '',
    ].join('\r\n'),
  );
  const empty = await ask('countries', 'from=2026-01-01&to=2026-01-02', { Accept: 'text/csv' });
  expect(empty.body).toMatch(/^country,gateway,channel,accepted,[^\n]*,errors\r\n$/);
  for (const accept of ['*/*', 'application/json', 'text/html', 'text/csv;q=0.5,application/json'])
    expect((await ask('client-tags', query, { Accept: accept })).body.data).toHaveLength(2);
});

// Shows A71
test('tags past the thousandth of a day count together', async () => {
  const time = at(`${day}T10:00:00Z`);
  await textsAt(
    own,
    time,
    Array.from({ length: 1_003 }, (_, index) => ({ clientTag: `tag-${index}` })),
  );
  await countAll();
  const query = `from=${day}&to=2026-07-03`;
  const tags = async () =>
    Object.fromEntries(
      (await ask('client-tags', query)).body.data.map((row: any) => [row.clientTag, row.accepted]),
    );
  expect(await tags()).toMatchObject({ '(other)': 3 });
  // A tag with its own count keeps it, a tag without one gets none, and another day starts anew.
  await textAt(own, time, { clientTag: 'tag-5' });
  await textAt(own, time, { clientTag: 'tag-1002' });
  await textAt(own, at('2026-07-02T10:00:00Z'), { clientTag: 'tag-1002' });
  await countAll();
  const found = await tags();
  expect([found['(other)'], found['tag-5']]).toEqual([4, 2]);
});

test('recipient domains past the five hundredth of a day count together', async () => {
  const time = at(`${day}T10:00:00Z`);
  const first = await emailAt(own, time, { recipient: 'ada@0.example', clientTag: 'domains' });
  await copyEmail(own, first, 501, (n) => `CONCAT('ada@', ${n}, '.example')`);
  await countAll();
  const query = `from=${day}&to=2026-07-03`;
  const { data } = (await ask('email-deliverability', query)).body;
  const others = data.filter(({ domain }: any) => domain === '(other)');
  expect(others).toMatchObject([{ by: 'recipientDomain', accepted: 2 }]);
  // The report shows the first 200 domains; the sum of the sending domain includes all emails.
  expect(data.filter(({ by }: any) => by === 'recipientDomain')).toHaveLength(200);
  expect(data.filter(({ by }: any) => by === 'sendingDomain')).toMatchObject([{ accepted: 502 }]);
});

test('an email that is erased before it was counted, or after, counts once', async () => {
  const time = at(`${day}T10:00:00Z`);
  const [first, second] = [
    await emailAt(own, time, { recipient: 'first@erased.example' }),
    await emailAt(own, time, { recipient: 'second@erased.example' }),
  ];
  await countAll();
  for (const email of [first, second]) await advanceEmail(email, 'sent', { at: time });
  await query("DELETE FROM emails WHERE recipient LIKE '%@erased.example'");
  await countAll();
  const { data } = (await ask('sends', `from=${day}&to=2026-07-02&channel=email`)).body;
  expect(data).toMatchObject([{ accepted: 2, sent: 2 }]);
});

test('a rebuild leaves an hour as it is of which messages are gone, and says so', async () => {
  const [gone, kept] = [at(`${day}T10:00:00Z`), at(`${day}T12:00:00Z`)];
  for (const time of [gone, gone, kept]) await textAt(own, time, {});
  await countAll();
  await query('DELETE FROM sms_messages WHERE workspace_id = ? AND created_at = ? LIMIT 1', [
    idToBytes(own.workspaceId),
    gone,
  ]);
  const rebuilt = await reports.rebuild(own.workspaceId, gone, at(`${day}T13:00:00Z`));
  expect(rebuilt.left).toBeGreaterThan(0);
  const { data } = (await ask('sends', `from=${day}&to=2026-07-02&channel=sms`)).body;
  expect(data).toMatchObject([{ accepted: 3 }]);
});

test('latency is told within four hundredths, from when a message was due', async () => {
  const start = at(`${day}T10:00:00Z`);
  const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);
  for (let index = 1; index <= 20; index += 1) {
    const text = await textAt(own, start, { scheduledAt: index === 20 ? after(600) : null });
    const sent = await advanceText(text, 'sent', { at: after(index === 20 ? 620 : index) });
    if (index <= 10) await advanceText(sent, 'delivered', { at: after(index + 60) });
  }
  const email = await emailAt(own, start, {});
  await advanceEmail(email, 'sent', { at: after(0.25) });
  await countAll();
  const { body } = await ask('latency', `from=${day}&to=2026-07-02`);
  const close = (seconds: number) => ({
    asymmetricMatch: (value: number) => Math.abs(value - seconds) <= 0.04 * seconds + 0.0005,
  });
  const [ofEmail, ofText] = body.data;
  expect(ofEmail).toMatchObject({
    channel: 'email',
    kind: 'transactional',
    sent: { count: 1, p50: close(0.25) },
  });
  expect(ofEmail.delivered).toEqual({ count: 0, p50: null, p90: null, p95: null, p99: null, max: null });
  expect(ofText).toMatchObject({
    channel: 'sms',
    kind: 'single',
    sent: { count: 20, p50: close(10), p90: close(18), p95: close(19), p99: close(20), max: close(20) },
    delivered: { count: 10, p50: close(60), max: close(60) },
  });
});

test('without bounds it is the last 30 days, with this hour', async () => {
  await emailAt(own, new Date(now().getTime() - 29 * 24 * hourMs), {});
  await emailAt(own, now(), {});
  await countAll();
  const { body } = await ask('email-deliverability');
  expect(Date.parse(body.to) - Date.parse(body.from)).toBe(30 * 24 * hourMs);
  expect(
    body.data.map(({ by, accepted, bounceRate, complaintRate }: any) => [
      by,
      accepted,
      bounceRate,
      complaintRate,
    ]),
  ).toEqual([
    ['recipientDomain', 2, '0.0000', null],
    ['sendingDomain', 2, '0.0000', null],
  ]);
});

test('the figures are those of the workspace alone', async () => {
  const other = await workspace();
  await emailAt(other, at(`${day}T10:00:00Z`), { clientTag: 'theirs' });
  await countAll();
  for (const report of ['client-tags', 'countries', 'latency', 'email-deliverability'])
    expect((await ask(report, `from=${day}&to=2026-07-02`)).body.data).toEqual([]);
});
