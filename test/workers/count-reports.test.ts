import { expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { runAll } from '../../shared/db/client/migrate.ts';
import { database, query } from '../../shared/db/client.ts';
import { reportBackfill } from '../../shared/db/migrations/0039_report_backfill.ts';
import * as relay from '../../shared/domain/events/relay.ts';
import * as reports from '../../shared/domain/reports/reports.ts';
import { countReports } from '../../shared/jobs/count-reports.ts';
import { enqueueRepeating } from '../../shared/queue/queue.ts';
import { acceptEmail } from '../support/data/accepted-email.ts';
import { workspace } from '../support/data/factory.ts';
import { emailAt, textAt } from '../support/data/reported-messages.ts';
import { useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

const accepted = async (own: { workspaceId: string }) => {
  const { data } = await reports.sends(own, { timeZone: 'UTC', interval: 'month' });
  return data.reduce((sum, row) => sum + row.accepted, 0);
};

test('a run counts what has come since the one before, and nothing twice', async () => {
  const own = await workspace();
  await acceptEmail(own);
  await acceptEmail(own);
  await relay.relayAll();
  await runWorkers(['count-reports']);
  enqueueRepeating(countReports, 1);
  await waitFor('the emails are counted', async () => (await accepted(own)) === 2);
  await acceptEmail(own);
  await relay.relayAll();
  await waitFor('the next one is counted', async () => {
    enqueueRepeating(countReports, 1);
    return (await accepted(own)) === 3;
  });
  expect(await reports.countEvents()).toBe(0);
});

test('two that count at once count everything once', async () => {
  const own = await workspace();
  for (let index = 0; index < 20; index += 1) await acceptEmail(own, { clientTag: `tag ${index % 3}` });
  await relay.relayAll();
  await Promise.all(Array.from({ length: 4 }, () => reports.countEvents()));
  expect(await accepted(own)).toBe(20);
});

test('events that have gone uncounted are passed over, and a rebuild counts their messages', async () => {
  const own = await workspace();
  await acceptEmail(own);
  await relay.relayAll();
  await query("UPDATE counters SET value = (SELECT MAX(position) FROM events) WHERE name = 'events.purged'");
  expect(await reports.countEvents()).toBe(0);
  expect(await accepted(own)).toBe(0);
  await reports.rebuild(
    own.workspaceId,
    new Date(now().getTime() - 3_600_000),
    new Date(now().getTime() + 3_600_000),
  );
  expect(await accepted(own)).toBe(1);
});

test('messages that are older than the reports are counted after the first deploy, hour by hour, by whatever process', async () => {
  const [own, other] = [await workspace(), await workspace()];
  const hoursAgo = (hours: number) => new Date(now().getTime() - hours * 3_600_000);
  for (const hours of [0, 30, 24 * 40]) {
    await emailAt(own, hoursAgo(hours), { clientTag: 'old' });
    await textAt(other, hoursAgo(hours), {});
  }
  await relay.relayAll();
  // The previous version left the database like this: older events are gone, and nothing has been counted.
  await query("UPDATE counters SET value = (SELECT MAX(position) FROM events) WHERE name = 'events.purged'");
  await runAll(database(), [...reportBackfill.down, ...reportBackfill.up]);
  const range = { from: { time: hoursAgo(24 * 80) }, timeZone: 'UTC' };
  const figures = async () =>
    Promise.all(
      [own, other].map(async (one) => {
        const months = (await reports.sends(one, { ...range, interval: 'month' })).data;
        const hours = (await reports.clientTags(one, range)).data;
        return [months, hours].map((rows) => rows.reduce((sum, { accepted }) => sum + accepted, 0));
      }),
    );
  expect(await figures()).toEqual([
    [0, 0],
    [0, 0],
  ]);
  await reports.countEvents();
  await Promise.all([reports.backfill(1), reports.backfill(1)]);
  await runWorkers(['count-reports']);
  await waitFor('all hours are counted', async () => {
    enqueueRepeating(countReports, 1);
    const [row] = await query("SELECT value FROM counters WHERE name = 'reports.backfill'");
    return Number(row!['value']) === 0;
  });
  const counted = await figures();
  expect(counted).toEqual([
    [3, 3],
    [3, 3],
  ]);
  // A database that had reports from its start has nothing to count afterwards.
  await query('DELETE FROM emails');
  await query('DELETE FROM sms_messages');
  await runAll(database(), [...reportBackfill.down, ...reportBackfill.up]);
  const [row] = await query("SELECT value FROM counters WHERE name = 'reports.backfill'");
  expect(Number(row!['value'])).toBe(0);
  expect(await figures()).toEqual(counted);
});
