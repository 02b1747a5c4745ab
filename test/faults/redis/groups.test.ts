// @slow: it starts several groups of Redis, and breaks them.
import { beforeAll, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { sendEmail } from '../../../shared/jobs/send-email.ts';
import { partitions, prefixOf } from '../../../shared/queue/partitions.ts';
import {
  closeQueues,
  findRedisFault,
  queueOf,
  readQueueDepths,
  readRedisMemory,
} from '../../../shared/queue/queue.ts';
import { password } from '../../api/ops/metrics-page.ts';
import { basicLogin } from '../../support/api/basic-login.ts';
import { startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { deleteKeys } from '../../support/database/drop-databases.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { startRedisCluster, startSentinels } from '../../support/servers/redis-groups.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const usualUrl = config.REDIS_URL;

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
beforeAll(async () => {
  [own, sink] = await Promise.all([workspace(), startSmtpSink()]);
  changeSettings({ SMTP_URL: sink.url });
});

// The limit is long because a busy machine is slow.
const limit = { timeoutMs: 120_000 };
let number = 0;
async function accept(count: number): Promise<string[]> {
  const recipients = Array.from({ length: count }, () => `person-${(number += 1)}@example.com`);
  for (const recipient of recipients) await acceptEmail(own, { recipient });
  return recipients;
}

const redisTakesJobs = () =>
  waitFor(
    'Redis takes jobs',
    async () => {
      expect(await findRedisFault()).toBeNull();
      return true;
    },
    limit,
  );
const copiesOf = (recipient: string) =>
  sink.messages.filter(({ envelope }) => envelope.to.includes(recipient)).length;
const areSent = (recipients: string[]) =>
  waitFor('all are sent', () => recipients.every((recipient) => copiesOf(recipient) > 0), limit);

// Shows F40
test.each([
  ['the primary that a Sentinel watches', 1, startSentinels],
  ['a node of a Redis Cluster', 4, () => startRedisCluster(config.QUEUE_PREFIX)],
] as const)(
  '%s is killed amid work, its queues in %i parts: all is sent once, and the worker stops soon',
  async (_name, parts, start) => {
    const group = await start();
    changeSettings({ REDIS_URL: group.url, QUEUE_PARTITIONS: parts });
    await closeQueues();
    await redisTakesJobs();
    const worker = await startWorkerProcess(['send-email', 'sweep'], {
      EMAIL_CONCURRENCY: '2',
      SHUTDOWN_SECONDS: '60',
    });
    const first = await accept(10);
    await areSent(first.slice(0, 3));
    await group.primary.kill();
    const amid = await accept(10);
    await redisTakesJobs();
    const all = [...first, ...amid, ...(await accept(10))];
    await areSent(all);
    expect(all.map(copiesOf)).toEqual(all.map(() => 1));
    expect((await readRedisMemory())!.usedBytes).toBeGreaterThan(0);
    const stoppedAt = performance.now();
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
    // If BullMQ still waits for the lost node, the process ends this wait after two seconds.
    expect(performance.now() - stoppedAt).toBeLessThan(8_000);
  },
  300_000,
);

type Counts = { waiting: number; prioritized: number; delayed: number };

// Shows F17
test('the number of partitions is changed with work in progress, and nothing is lost', async () => {
  changeSettings({ REDIS_URL: usualUrl, QUEUE_PARTITIONS: 4 });
  await closeQueues();
  await redisTakesJobs();
  atEnd(async () => {
    for (const partition of [1, 2, 3]) await deleteKeys(usualUrl, prefixOf(partition));
  });
  const lane = sendEmail.lanes.transactional;
  const depth = async () =>
    (await readQueueDepths())?.reduce((sum, { queue, jobs }) => sum + (queue === lane ? jobs : 0), 0);
  const recipients = await accept(20);
  await waitFor('all have their jobs', async () => (await depth()) === 20);
  const inEach = await Promise.all(partitions().map((partition) => queueOf(lane, partition).count()));
  expect(inEach.filter((jobs) => jobs > 0).length).toBeGreaterThan(1);
  changeSettings({ OPS_PASSWORD: password });
  const api = await startApi();
  // The board answers with an error where Redis takes long on a busy machine.
  await waitFor('the board adds the parts up', async () => {
    const board = await api.request('GET', '/ops/queues/api/queues', {
      headers: basicLogin(password),
    });
    const shown: { name: string; counts: Counts }[] = board.body.queues;
    // Emails of the tests before may still count, and then the last of these jobs have a priority.
    const jobsOf = ({ waiting, prioritized, delayed }: Counts) => waiting + prioritized + delayed;
    expect(shown.filter(({ name }) => name.endsWith(lane)).map(({ counts }) => jobsOf(counts))).toEqual([20]);
    return true;
  });

  changeSettings({ QUEUE_PARTITIONS: 2 });
  await closeQueues();
  const workers = await runWorkers(['send-email', 'sweep']);
  // After this time the sweep also finds the emails whose jobs are in partitions that no worker reads any more.
  await advanceClock(10_000);
  await areSent(recipients);
  expect(recipients.map(copiesOf)).toEqual(recipients.map(() => 1));
  await workers.stop();
});
