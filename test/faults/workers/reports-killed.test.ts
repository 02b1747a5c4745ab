// @slow: it starts, stops and breaks processes of the platform.
import { expect, test } from 'vitest';
import * as relay from '../../../shared/domain/events/relay.ts';
import * as reports from '../../../shared/domain/reports/reports.ts';
import { workspace } from '../../support/data/factory.ts';
import { advanceText, textAt } from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const rounds = 3;
const texts = 150;

// Shows F46
test('a process that counts for the reports is killed at work again and again, and every figure is exact', async () => {
  const own = await workspace();
  const range = { timeZone: 'UTC', interval: 'month' as const, channel: 'sms' as const };
  const figures = async () => (await reports.sends(own, range)).data.at(-1)!;
  const settings = { REPORT_BATCH: '3', REPORT_EVERY_SECONDS: '0.1' };
  for (let round = 1; round <= rounds; round += 1) {
    for (let index = 0; index < texts; index += 1) {
      const text = await textAt(own, new Date(), { clientTag: `tag ${index % 7}` });
      if (index % 2 === 0) await advanceText(text, 'sent', { at: new Date() });
    }
    await relay.relayAll();
    const before = (await figures()).accepted;
    const worker = await startWorkerProcess(['count-reports'], settings);
    await waitFor('some of them are counted', async () => (await figures()).accepted > before, {
      intervalMs: 1,
    });
    await worker.kill();
  }
  const worker = await startWorkerProcess(['count-reports'], settings);
  await waitFor('all of them are counted', async () => (await figures()).accepted >= rounds * texts);
  await waitFor('the last outcome is counted', async () => (await figures()).sent >= (rounds * texts) / 2);
  await worker.stop();
  const counted = await figures();
  expect(counted).toMatchObject({
    accepted: rounds * texts,
    sent: (rounds * texts) / 2,
    queued: (rounds * texts) / 2,
    parts: rounds * texts,
  });
  const now = new Date();
  await reports.rebuild(
    own.workspaceId,
    new Date(now.getTime() - 7_200_000),
    new Date(now.getTime() + 3_600_000),
  );
  expect(await figures()).toEqual(counted);
});
