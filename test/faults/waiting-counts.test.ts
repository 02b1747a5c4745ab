// @slow: it starts, stops and breaks processes of the platform.
import { expect, onTestFinished, test } from 'vitest';
import { config } from '../../shared/config/config.ts';
import { query } from '../../shared/db/client.ts';
import { findWaiting } from '../../shared/db/work/waiting-counts.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { clientOf } from '../support/api/api-client.ts';
import { startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { postEmail, postLargeEmail } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { countedRows } from '../support/database/waiting.ts';
import { startWeb, startWorkerProcess } from '../support/processes/processes.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { startSmtpSink } from '../support/servers/smtp-sink.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

// Shows A51, A65
test('two web processes at once take as many messages as may wait, and not one more', async () => {
  const usual = { MAX_WAITING_ROWS: config.MAX_WAITING_ROWS, MAX_STORED_MB: config.MAX_STORED_MB };
  changeSettings({ MAX_WAITING_ROWS: 20, MAX_STORED_MB: 6 });
  onTestFinished(() => changeSettings(usual));
  const [own, heavy] = [await workspace(), await workspace()];
  // One has a process of its own, the other one runs in this process.
  const [web, here] = await Promise.all([startWeb(), startApi()]);
  const apis = [clientOf(web.url), here];
  const content = Buffer.alloc(1_400_000, 'x').toString('base64');
  const attachments = [{ filename: 'a.txt', contentType: 'text/plain', content }];
  const [small, large] = await Promise.all([
    Promise.all(times(60, (index) => postEmail(apis[index % 2]!, own))),
    Promise.all(times(10, (index) => postLargeEmail(apis[index % 2]!, heavy, { attachments }))),
  ]);
  for (const answers of [small, large])
    expect([...new Set(answers.map(({ status }) => status))].toSorted((one, other) => one - other)).toEqual([
      201, 409,
    ]);
  expect(small.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(large.filter(({ status }) => status === 201)).toHaveLength(4);
  for (const { workspaceId } of [own, heavy])
    expect(await findWaiting(workspaceId)).toEqual(await countedRows(workspaceId));
});

// Shows A65
test('web and worker processes killed at work leave the counts as the rows are, without a recount', async () => {
  const [all, sink] = await Promise.all([Promise.all(times(2, () => workspace())), startSmtpSink()]);
  const settings = {
    SMTP_URL: sink.url,
    SMTP_TIMEOUT_SECONDS: '2',
    WEBHOOK_TIMEOUT_SECONDS: '2',
    LEASE_SECONDS: '4',
  };
  const web = await startWeb();
  const worker = await startWorkerProcess(['send-email', 'sweep'], settings);
  const api = clientOf(web.url);
  let accepted = 0;
  const load = times(4, async (lane) => {
    for (let index = 0; index < 1_000; index += 1) {
      const scheduledAt = index % 3 === 0 ? new Date(Date.now() + 86_400_000).toISOString() : null;
      const answer = await postEmail(api, all[lane % 2]!, { scheduledAt }).catch(() => null);
      if (!answer) return;
      accepted += 1;
    }
  });
  await waitFor('emails come in and go out', () => accepted > 100 && sink.messages.length > 20, {
    intervalMs: 1,
  });
  await Promise.all([web.kill(), worker.kill()]);
  await Promise.all(load);
  // MySQL may still be ending the transactions of the dead processes.
  await waitFor('the counts are as the rows are', async () => {
    const [counts, rows] = await Promise.all([
      Promise.all(all.map(({ workspaceId }) => findWaiting(workspaceId))),
      Promise.all(all.map(({ workspaceId }) => countedRows(workspaceId))),
    ]);
    expect(counts).toEqual(rows);
    return counts.every(({ messages }) => messages > 10);
  });
  changeSettings({ SMTP_URL: sink.url });
  const next = await runWorkers(['send-email', 'sweep']);
  await waitFor(
    'only what is scheduled waits',
    async () => {
      const [row] = await query(
        "SELECT COUNT(*) AS due FROM emails WHERE status = 'queued' AND scheduled_at IS NULL",
      );
      return Number(row!['due']) === 0;
    },
    { timeoutMs: 120_000 },
  );
  await next.stop();
  for (const { workspaceId } of all)
    expect(await findWaiting(workspaceId)).toEqual(await countedRows(workspaceId));
  const recounted = await query('SELECT 1 FROM waiting_counts WHERE recounts > 0 AND workspace_id IN (?)', [
    all.map(({ workspaceId }) => idToBytes(workspaceId)),
  ]);
  expect(recounted).toEqual([]);
});
