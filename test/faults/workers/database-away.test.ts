// @slow: it starts processes or servers of its own.
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { sendEmail } from '../../../shared/jobs/send-email.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { acceptMany, emailCounts } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const count = 100;
const inFlight = 10;

test('while the database is away its jobs wait without being tried again and again, and go on when it is back', async () => {
  const [own, sink, mysql] = await Promise.all([
    workspace(),
    startSmtpSink(),
    startTcpProxy(config.MYSQL_URL, 3306),
  ]);
  const worker = await startWorkerProcess(['send-email', 'sweep'], {
    MYSQL_URL: mysql.url,
    SMTP_URL: sink.url,
    EMAIL_CONCURRENCY: String(inFlight),
  });
  const timesSaid = (text: string) => worker.output().split(text).length - 1;
  mysql.refuse();
  await acceptMany(own, count);
  // The worker pauses for 1, 2, 4 seconds and so on, with one try after each pause.
  await waitFor('it pauses for longer and longer', () => timesSaid('"pauseSeconds":4') >= 1);
  const jobs = await queueOf(sendEmail.lanes.transactional).getJobs();
  const tries = timesSaid('a job met an outage');
  process.stdout.write(`${count} jobs and those of the schedule were tried ${tries} times\n`);
  expect(tries).toBeLessThanOrEqual(3 * inFlight);
  expect(jobs).toHaveLength(count);
  // The jobs of the schedule do not pile up.
  expect(await queueOf('sweep').getJobCountByTypes('waiting', 'delayed')).toBeLessThanOrEqual(3);

  await mysql.pass();
  await waitFor('all are sent', async () => (await emailCounts(own)).sent === count, {
    timeoutMs: 120_000,
  });
  // A job that still has a connection ends the first pause; a job that fails late from the outage begins a last one.
  expect(timesSaid('the database can be used again')).toBeGreaterThan(0);
  expect(timesSaid('the database can be used again')).toBeLessThanOrEqual(3);
  const retried = await query('SELECT id FROM emails WHERE retries > 0 OR uncertain_count > 0');
  expect(retried).toEqual([]);
  expect(sink.messages).toHaveLength(count);

  const pauses = timesSaid('"pauseSeconds":1,');
  mysql.refuse();
  await waitFor('it pauses again', () => timesSaid('"pauseSeconds":1,') > pauses);
  expect((await worker.stop()).code).toBe(0);
});
