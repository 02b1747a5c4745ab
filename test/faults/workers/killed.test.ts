import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const emails = 200;
const concurrency = 10;
/** The worker is killed when this many emails have arrived; the next one takes over its rows. */
const arrivedAtKills = [40, 90];

// Shows F10
test('a worker killed in the middle of 200 sends: all arrive, and each second copy has the same bytes', async () => {
  const [customer, sink] = await Promise.all([workspace(), startSmtpSink()]);
  const api = await startApi();
  const settings = {
    SMTP_URL: sink.url,
    EMAIL_CONCURRENCY: String(concurrency),
    SMTP_CONNECTIONS: String(concurrency),
  };
  const accepted = await Promise.all(
    Array.from({ length: emails }, (_, index) => sendEmail(api, customer, { subject: `Mail ${index}` })),
  );

  for (const arrivedAtKill of arrivedAtKills) {
    const worker = await startWorkerProcess(['send-email', 'sweep'], settings);
    await waitFor('enough emails have arrived', () => sink.messages.length >= arrivedAtKill, {
      intervalMs: 1,
    });
    await worker.kill();
    await advanceClock(config.LEASE_SECONDS * 1000 + 3_000);
  }
  changeSettings({ SMTP_URL: sink.url });
  const workers = await runWorkers();

  const messageIds = new Set(accepted.map((email) => `<${email.id}@${customer.domain}>`));
  const copies = () =>
    Map.groupBy(sink.messages, ({ raw }) => /^Message-ID: (.*)\r$/m.exec(raw.toString())?.[1] ?? 'none');
  await waitFor('every email has arrived', () => copies().size === emails, { timeoutMs: 120_000 });
  await waitFor(
    'every email counts as sent',
    async () => {
      const { body } = await api.request('GET', '/v2/email?status=sent&limit=200', { key: customer.key });
      return body.data.length === emails;
    },
    { timeoutMs: 120_000 },
  );

  await workers.stop();
  const arrived = copies();
  expect(new Set(arrived.keys())).toEqual(messageIds);
  const duplicates = [...arrived.values()].filter((same) => same.length > 1);
  for (const same of duplicates) for (const copy of same) expect(copy.raw.equals(same[0]!.raw)).toBe(true);
  expect(sink.messages.length - emails).toBeLessThanOrEqual(arrivedAtKills.length * concurrency);
});
