import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

async function sends(query: string) {
  const { status, body } = await api.request('GET', `/v2/reports/sends?channel=sms&${query}`, {
    key: own.key,
  });
  expect([status, body.errors]).toEqual([200, undefined]);
  return body;
}
async function faultsOf(query: string): Promise<string[]> {
  const { body } = await api.request('GET', `/v2/reports/sends?${query}`, { key: own.key });
  return Object.keys(body.errors ?? {});
}
const startsOf = ({ data }: { data: { start: string }[] }) => data.map(({ start }) => start);

test('hours are rounded where the zone is off by part of an hour, at whichever end', async () => {
  const isRounded = async (query: string) => (await sends(`interval=hour&${query}`)).timeZoneRounded;
  // In Lord Howe clocks go back by half an hour on 5 April.
  const zone = 'timeZone=Australia/Lord_Howe';
  expect(await isRounded(`${zone}&from=2026-04-01&to=2026-04-08`)).toBe(true);
  expect(await isRounded(`${zone}&from=2026-04-01T00:00:00Z&to=2026-04-08T00:00:00Z`)).toBe(true);
  expect(await isRounded(`${zone}&from=2026-03-28&to=2026-04-04`)).toBe(false);
  expect(await isRounded(`${zone}&from=2026-04-07&to=2026-04-09`)).toBe(true);
  // The clocks go forward on 4 October.
  expect(await isRounded(`${zone}&from=2026-10-01&to=2026-10-08`)).toBe(true);
  expect(await isRounded('timeZone=Europe/London&from=2026-10-20&to=2026-10-30')).toBe(false);
});

test('before a date it is 30 days of the zone, also where the clocks change meanwhile', async () => {
  const back = await sends('to=2026-11-10&timeZone=Europe/London');
  expect([back.from, back.to]).toEqual(['2026-10-10T23:00:00.000Z', '2026-11-10T00:00:00.000Z']);
  expect(back.data).toHaveLength(30);
  const forward = await sends('to=2026-04-10&timeZone=Europe/London');
  expect([forward.from, forward.to]).toEqual(['2026-03-11T00:00:00.000Z', '2026-04-09T23:00:00.000Z']);
  expect(forward.data).toHaveLength(30);
  // Before a time (not a date) the range is 30 times 24 hours.
  const { from } = await sends('to=2026-11-10T00:00:00Z&timeZone=Europe/London');
  expect(from).toBe('2026-10-11T00:00:00.000Z');
});

test('months are those of the zone, cut off at the bounds', async () => {
  const months = await sends('interval=month&timeZone=America/New_York&from=2026-02-15&to=2026-05-02');
  expect(startsOf(months)).toEqual([
    '2026-02-01T05:00:00.000Z',
    '2026-03-01T05:00:00.000Z',
    '2026-04-01T04:00:00.000Z',
    '2026-05-01T04:00:00.000Z',
  ]);
  expect([months.from, months.to]).toEqual(['2026-02-15T05:00:00.000Z', '2026-05-02T04:00:00.000Z']);
});

test('the zone of the answer is the one that was asked for', async () => {
  for (const [asked, named] of [
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['Asia/Calcutta', 'Asia/Calcutta'],
    ['europe/LONDON', 'Europe/London'],
  ])
    expect((await sends(`timeZone=${asked}`)).timeZone).toBe(named);
});

// The clocks of London go back on 26 October 2025 and forward on 29 March 2026, those of New York back on 2 November.
test.each([
  ['from=2025-01-01T00:00:00Z&to=2026-02-05T00:00:00Z', 'from=2025-01-01T00:00:00Z&to=2026-02-05T01:00:00Z'],
  ['from=2025-01-01&to=2026-02-05', 'from=2025-01-01&to=2026-02-05T01:00:00Z'],
  [
    'timeZone=Europe/London&from=2025-10-01&to=2026-11-05',
    'timeZone=Europe/London&from=2025-10-01&to=2026-11-05T01:00:00Z',
  ],
  [
    'timeZone=Europe/London&from=2025-10-01T00:00:00Z&to=2026-11-05T00:00:00Z',
    'timeZone=Europe/London&from=2025-10-01T00:00:00Z&to=2026-11-05T01:00:00Z',
  ],
  [
    'timeZone=Asia/Tokyo&from=2025-01-01&to=2026-02-05',
    'timeZone=Asia/Tokyo&from=2025-01-01&to=2026-02-04T16:00:00Z',
  ],
])('400 days, %s, are the most', async (most, more) => {
  expect([await faultsOf(most), await faultsOf(more)]).toEqual([[], ['from']]);
});

test.each([
  ['from=2026-10-01T00:00:00Z&to=2026-11-01T00:00:00Z', 'from=2026-10-01T00:00:00Z&to=2026-11-01T01:00:00Z'],
  ['from=2026-10-01&to=2026-11-01', 'from=2026-10-01&to=2026-11-01T01:00:00Z'],
  [
    'timeZone=America/New_York&from=2025-10-10&to=2025-11-10',
    'timeZone=America/New_York&from=2025-10-10&to=2025-11-10T06:00:00Z',
  ],
])('31 days of hours, %s, are the most', async (most, more) => {
  const byHour = (query: string) => faultsOf(`interval=hour&${query}`);
  expect([await byHour(most), await byHour(more)]).toEqual([[], ['interval']]);
});
