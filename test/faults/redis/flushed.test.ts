import { expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendEmail } from '../../support/data/new-email.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const minuteMs = 60_000;

// Shows F17
test('Redis forgets 100 scheduled and 50 due emails: all go out, none before its time, none twice', async () => {
  const [customer, sink] = await Promise.all([workspace(), startSmtpSink()]);
  const api = await startApi();
  // Half of the scheduled ones are near enough to have a job in Redis already, the others wait in MySQL only.
  const early = new Date(now().getTime() + 10 * minuteMs);
  const late = new Date(now().getTime() + 120 * minuteMs);
  const scheduled = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      sendEmail(api, customer, {
        subject: `${index % 2 ? 'late' : 'early'} ${index}`,
        scheduledAt: (index % 2 ? late : early).toISOString(),
      }),
    ),
  );
  expect(scheduled).toHaveLength(100);
  for (let index = 0; index < 50; index += 1) await sendEmail(api, customer, { subject: `due ${index}` });

  await forgetRedis();
  changeSettings({ SMTP_URL: sink.url, EMAIL_DELIVERED_ON: 'accept' });
  const workers = await runWorkers();
  const arrived = (word: string) =>
    sink.messages.filter(({ raw }) => raw.includes(`Subject: ${word} `)).length;
  await waitFor('the due emails have arrived', () => arrived('due') === 50);
  expect(arrived('early') + arrived('late')).toBe(0);

  // Redis is emptied once more, after the workers have put the near ones back.
  await forgetRedis();
  await advanceClock(10 * minuteMs);
  await waitFor('the early emails have arrived', () => arrived('early') === 50);
  expect(arrived('late')).toBe(0);

  await advanceClock(110 * minuteMs);
  await waitFor('the late emails have arrived', () => arrived('late') === 50);
  await workers.stop();
  expect(sink.messages).toHaveLength(150);
});
