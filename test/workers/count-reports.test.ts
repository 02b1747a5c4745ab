import { expect, test } from 'vitest';
import { now } from '../../shared/clock.ts';
import { query } from '../../shared/db/client.ts';
import * as relay from '../../shared/domain/relay.ts';
import * as reports from '../../shared/domain/reports.ts';
import { countReports } from '../../shared/jobs/count-reports.ts';
import { enqueueRepeating } from '../../shared/queue.ts';
import { acceptEmail } from '../support/accepted-email.ts';
import { useDatabase } from '../support/database.ts';
import { workspace } from '../support/factory.ts';
import { runWorkers } from '../support/run-workers.ts';
import { waitFor } from '../support/wait-for.ts';

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
