// @slow: it starts, stops and breaks processes of the platform.
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { sendEmail } from '../../../shared/jobs/send-email.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { closeSmtp } from '../../../shared/transports/smtp.ts';
import { acceptMany, emailCounts } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const count = 100;
const names = ['send-email:transactional'];

type Workspace = Awaited<ReturnType<typeof workspace>>;

async function held({ workspaceId }: Workspace): Promise<number> {
  const inFlight = 'SELECT id FROM emails WHERE workspace_id = ? AND lease_token IS NOT NULL';
  return (await query(inFlight, [idToBytes(workspaceId)])).length;
}

/** The next test must not find the emails that this one leaves. */
async function sendTheRest(own: Workspace, sink: SmtpSink): Promise<void> {
  changeSettings({ SMTP_URL: sink.url });
  await closeSmtp();
  const next = await runWorkers([...names, 'sweep']);
  await waitFor('the next worker sends the rest', async () => (await emailCounts(own)).sent === count, {
    timeoutMs: 120_000,
  });
  await next.stop();
  expect(sink.messages).toHaveLength(count);
}

// Shows F12
test('a worker is stopped while Redis hangs, and Redis goes on with a backlog: it finishes what it has claimed and begins nothing more', async () => {
  const [own, sink, redis] = await Promise.all([
    workspace(),
    startSmtpSink(),
    startTcpProxy(config.REDIS_URL, 6379),
  ]);
  const relay = await startTcpProxy(sink.url);
  relay.delay(20);
  const worker = await startWorkerProcess(names, {
    REDIS_URL: redis.url,
    SMTP_URL: relay.url,
    EMAIL_CONCURRENCY: '4',
    SHUTDOWN_SECONDS: '60',
  });
  await acceptMany(own, count);
  const taken = async () => (await emailCounts(own)).sent + (await held(own));
  await waitFor('some are claimed', async () => (await held(own)) > 0, { intervalMs: 1 });
  relay.freeze();
  redis.freeze();
  const stopped = worker.stop();
  await waitFor('it stops', () => worker.output().includes('finishing the work in progress'));
  // As long as a worker that asks Redis before it stops would wait for the answer.
  const asking = new Redis(redis.url, { commandTimeout: 2_000 }).on('error', () => undefined);
  atEnd(() => asking.disconnect());
  await expect(asking.ping()).rejects.toThrow('timed out');
  const begun = await taken();
  await redis.pass();
  await relay.pass();
  expect((await stopped).code).toBe(0);
  expect(await held(own)).toBe(0);
  expect((await emailCounts(own)).sent).toBe(begun);
  expect(sink.messages).toHaveLength(begun);
  await sendTheRest(own, sink);
});

// Shows F12
test('a worker is stopped while emails wait in it for the database, and the database comes back: what the relay has got counts as sent', async () => {
  const [own, sink, mysql] = await Promise.all([
    workspace(),
    startSmtpSink(),
    startTcpProxy(config.MYSQL_URL, 3306),
  ]);
  const relay = await startTcpProxy(sink.url);
  // The relay hangs for a while before its first answer to a whole message.
  let hasHung = false;
  sink.setMode(() => {
    if (sink.messages.length > 0 && !hasHung) {
      hasHung = true;
      relay.freeze();
      setTimeout(() => void relay.pass(), 3_000);
    }
    return 'accept';
  });
  const worker = await startWorkerProcess(names, {
    MYSQL_URL: mysql.url,
    SMTP_URL: relay.url,
    EMAIL_CONCURRENCY: '10',
    SHUTDOWN_SECONDS: '60',
  });
  mysql.refuse();
  await acceptMany(own, count);
  const fetched = () => queueOf(sendEmail.lanes.transactional).getActiveCount();
  await waitFor('the database is away', () => worker.output().includes('"pauseSeconds":1'), {
    intervalMs: 1,
  });
  await waitFor('ten emails wait for it', async () => (await fetched()) === 10, { intervalMs: 1 });
  const stopped = worker.stop();
  await waitFor('it stops', () => worker.output().includes('finishing the work in progress'));
  await mysql.pass();
  expect((await stopped).code).toBe(0);
  expect(await held(own)).toBe(0);
  expect((await emailCounts(own)).sent).toBe(sink.messages.length);
  await sendTheRest(own, sink);
});
