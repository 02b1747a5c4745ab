// @apart: the share of a workspace is what one process remembers, and order is counted from its start.
// @slow: thousands of emails go out.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { sendEmail } from '../../../shared/jobs/send-email.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { acceptMany, emailCounts, jobsInRedis } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

type Own = Awaited<ReturnType<typeof workspace>>;

let sink: SmtpSink;
let [greedy, other, third]: Own[] = [];
beforeAll(async () => {
  sink = await startSmtpSink();
  // The relay answers slowly (15 ms), so that a queue of waiting emails forms.
  const line = await startTcpProxy(sink.url);
  line.delay(15);
  changeSettings({
    SMTP_URL: line.url,
    SMTP_CONNECTIONS: 4,
    EMAIL_CONCURRENCY: 8,
    EMAIL_JOBS_PER_WORKSPACE: 100,
  });
});
beforeEach(async () => {
  await query('TRUNCATE TABLE emails');
  await forgetRedis();
  [greedy, other, third] = [await workspace(), await workspace(), await workspace()];
});

/** Sets the share of a workspace: this many emails at once, and a tenth of them comes back each second. */
const setShare = (emails: number) => changeSettings({ EMAIL_AUTHENTICATION_PER_SECOND: emails / 10 });

const to = (name: string) => (index: number) => ({ recipient: `${name}-${index}@example.com` });
const accept = (from: Own, count: number, kind: string, name: string) =>
  acceptMany(from, count, (index) => ({ kind, ...to(name)(index) }));
const arrived = (name: string) =>
  sink.messages.flatMap(({ envelope }, place) => (envelope.to[0]!.startsWith(`${name}-`) ? [place] : []));

test('who calls all of its email authentication goes before others with its share, and beside them with the rest', async () => {
  setShare(1);
  const before = sink.messages.length;
  await accept(greedy!, 300, 'authentication', 'greedy');
  await accept(other!, 40, 'transactional', 'other');
  await accept(third!, 1, 'authentication', 'code');
  // No sweep runs here: emails that end, of any lane, let in the ones that wait for room.
  const workers = await runWorkers(['send-email']);
  await waitFor('all arrive', () => sink.messages.length === before + 341);
  await workers.stop();

  const last = (name: string) => Math.max(...arrived(name));
  const greedyBefore = (place: number) => arrived('greedy').filter((other) => other < place).length;
  // The bound adds the share and its refill meanwhile, the emails in progress, and the turns beside the other one.
  expect(greedyBefore(last('other'))).toBeLessThan(20 + 8 + 100);
  // The code of a workspace within its share waits for hardly more than the emails that were in progress.
  expect(greedyBefore(last('code'))).toBeLessThan(20 + 8 + 25);
  expect((await emailCounts(greedy!, 'authentication')).sent).toBe(300);
});

test('the share is the workspace’s own, is of one-time codes only, and 0 is no limit', async () => {
  setShare(2);
  await accept(greedy!, 60, 'authentication', 'greedy');
  await accept(other!, 2, 'authentication', 'other');
  await accept(other!, 40, 'marketing', 'other');
  await waitFor('the jobs are made', async () => (await jobsInRedis('marketing')) === 40);
  const codes = await jobsInRedis('authentication');
  expect(codes).toBeGreaterThanOrEqual(2 + 2);
  expect(codes).toBeLessThan(2 + 2 + 20);
  // Emails beyond the share are still codes, which are given up after 30 minutes.
  const beside = await queueOf(sendEmail.lanes.transactional).getJobs();
  expect(beside).toHaveLength(60 + 2 - codes);
  for (const { data } of beside)
    expect(data).toMatchObject({ workspaceId: greedy!.workspaceId, kind: 'authentication' });

  setShare(0);
  await accept(third!, 60, 'authentication', 'third');
  await waitFor('all are codes', async () => (await jobsInRedis('authentication')) === codes + 60);
});
