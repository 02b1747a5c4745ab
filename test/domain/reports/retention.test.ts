import { expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import * as reports from '../../../shared/domain/reports/reports.ts';
import { idToBytes, newUuid } from '../../../shared/formats/ids.ts';
import { workspace } from '../../support/data/factory.ts';
import { countAll, textAt } from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

const hourMs = 3_600_000;

test('figures go by whole months: the month that retention ends in stays, in hours, days and months', async () => {
  // Retention ends in the middle of a month, so that the month stays the same until the end of the test.
  const daysAgo = (days: number) => new Date(now().getTime() - days * 24 * hourMs);
  let days = 400;
  while (daysAgo(days).getUTCDate() !== 15) days += 1;
  changeSettings({ SMS_RETENTION_DAYS: 9_000, REPORT_RETENTION_DAYS: days });
  const own = await workspace();
  const edge = daysAgo(days);
  const start = Date.UTC(edge.getUTCFullYear(), edge.getUTCMonth(), 1);
  const [gone, kept] = [new Date(start - hourMs), new Date(start)];
  await textAt(own, gone, {});
  await textAt(own, kept, {});
  await countAll();
  const stored = async () => {
    const rows = await query(
      "SELECT span, start FROM report_counts WHERE workspace_id = ? AND dimension = 'all'",
      [idToBytes(own.workspaceId)],
    );
    return rows
      .map(
        (row) =>
          `${String(row['span'])} ${new Date(Number(row['start']) * hourMs).toISOString().slice(0, 13)}`,
      )
      .toSorted();
  };
  expect(await stored()).toHaveLength(6);
  while ((await reports.purge(1_000)) > 0);
  const first = kept.toISOString().slice(0, 13);
  expect(await stored()).toEqual([`day ${first}`, `hour ${first}`, `month ${first}`]);
  const range = { from: { time: gone }, to: { time: new Date(start + hourMs) }, timeZone: 'UTC' };
  for (const interval of ['hour', 'day', 'month'] as const) {
    const { data } = await reports.sends(own, { ...range, interval, channel: 'sms' });
    expect(data.map(({ accepted }) => accepted)).toEqual([0, 1]);
  }
  expect((await reports.countries(own, range)).data).toMatchObject([{ accepted: 1 }]);
});

test('how a message was counted is forgotten by the retention of its channel', async () => {
  changeSettings({ EMAIL_RETENTION_DAYS: 8, SMS_RETENTION_DAYS: 90 });
  const own = await workspace();
  const state = async (channel: 'e' | 's', daysOld: number) => {
    const id = newUuid(new Date(now().getTime() - daysOld * 24 * hourMs));
    await query('INSERT INTO report_states (id, workspace_id, counted) VALUES ?', [
      [[id, idToBytes(own.workspaceId), `${channel}q---,,0,`]],
    ]);
    return `${channel} ${daysOld} ${id.toString('hex')}`;
  };
  const expected: string[] = [];
  // The texts among the emails are more than one batch.
  for (let index = 0; index < 12; index += 1) expected.push(await state('s', 120));
  for (const [channel, days] of [
    ['e', 100],
    ['s', 180],
  ] as const)
    expected.push(await state(channel, days));
  for (const [channel, days] of [
    ['e', 120],
    ['e', 119],
    ['e', 200],
    ['s', 200],
  ] as const)
    await state(channel, days);
  while ((await reports.purge(5)) > 0);
  const left = await query<{ id: Buffer }[]>('SELECT id FROM report_states WHERE workspace_id = ?', [
    idToBytes(own.workspaceId),
  ]);
  expect(left.map(({ id }) => id.toString('hex')).toSorted()).toEqual(
    expected.map((one) => one.split(' ')[2]!).toSorted(),
  );
});
