// @slow: it starts processes or servers of its own.
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { sendEmail } from '../../../shared/jobs/send-email.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { acceptMany } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const count = 30;

// Shows F8
test('jobs that a dead worker had fetched, and not yet claimed, come back within seconds', async () => {
  const [own, sink, mysql] = await Promise.all([
    workspace(),
    startSmtpSink(),
    startTcpProxy(config.MYSQL_URL, 3306),
  ]);
  changeSettings({ SMTP_URL: sink.url });
  const [victim, survivor] = await Promise.all([
    startWorkerProcess(['send-email'], { MYSQL_URL: mysql.url }),
    runWorkers(['sweep', 'relay-events', 'send-email:marketing']),
  ]);
  mysql.freeze();
  await acceptMany(own, count);
  const fetched = () => queueOf(sendEmail.lanes.transactional).getActiveCount();
  await waitFor('the worker has fetched all of them', async () => (await fetched()) === count);
  const taker = await runWorkers(['send-email']);
  await victim.kill();
  // A lock lasts 4 seconds, and workers look for expired locks every 4 seconds. The sweep trusts a job for a minute, so
  // jobs that only the sweep brings back would miss this limit.
  await sink.waitFor(count, { timeoutMs: 40_000 });
  await Promise.all([survivor.stop(), taker.stop()]);
  expect(sink.messages).toHaveLength(count);
});
