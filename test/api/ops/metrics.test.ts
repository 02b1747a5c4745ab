import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { password, samples, shows } from './metrics-page.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  const sink = await startSmtpSink();
  sink.setMode((recipient) =>
    recipient.startsWith('gone') ? '550 at RCPT' : recipient.startsWith('later') ? '450 at RCPT' : 'accept',
  );
  changeSettings({ SMTP_URL: sink.url, OPS_PASSWORD: password });
  api = await startApi();
  own = await workspace();
});

test('after a flow the page counts what was accepted, sent, failed, retried and delivered', async () => {
  const receiver = await startWebhookReceiver();
  const refusing = await startWebhookReceiver({ respond: { status: 500 } });
  for (const { url, events } of [
    { url: receiver.url, events: ['email.sent', 'email.bounced'] },
    { url: refusing.url, events: ['email.bounced'] },
  ])
    await api.request('POST', '/v2/webhooks', { key: own.key, body: { url, events } });
  const zero = await samples(api);
  expect(zero.get('messaging_emails_accepted_total{kind="marketing"}')).toBe(0);
  expect(zero.get('messaging_webhook_attempts_total{outcome="delivered"}')).toBe(0);

  const workers = await runWorkers();
  for (const kind of ['transactional', 'transactional', 'marketing', 'authentication'])
    await sendEmail(api, own, { kind });
  await sendEmail(api, own, {
    recipient: 'gone@example.com',
    subject: 'For {{ name }}',
    data: { name: 'Ada' },
  });
  await sendEmail(api, own, { recipient: 'later@example.com' });
  await receiver.waitFor(5);
  await refusing.waitFor(1);

  await shows(api, {
    messaging_redis_up: 1,
    'messaging_emails_accepted_total{kind="transactional"}': 4,
    'messaging_emails_accepted_total{kind="marketing"}': 1,
    'messaging_emails_accepted_total{kind="authentication"}': 1,
    'messaging_emails_sent_total{kind="transactional"}': 2,
    'messaging_emails_sent_total{kind="marketing"}': 1,
    'messaging_emails_sent_total{kind="authentication"}': 1,
    'messaging_emails_failed_total{kind="transactional"}': 1,
    'messaging_emails_failed_total{kind="marketing"}': 0,
    'messaging_emails_retried_total{kind="transactional"}': 1,
    'messaging_sandbox_jobs_total{program="liquid",outcome="done"}': 1,
    'messaging_sandbox_kills_total{program="liquid"}': 0,
    'messaging_webhook_attempts_total{outcome="delivered"}': 5,
    'messaging_webhook_attempts_total{outcome="http_status"}': 1,
    'messaging_webhook_attempts_total{outcome="timeout"}': 0,
    // A queued event for each of six emails, a sent one for four, a delayed and a bounced one, and the suppression.
    messaging_events_relayed_total: 13,
  });
  expect((await samples(api)).get('messaging_sweep_runs_total')).toBeGreaterThan(0);
  await workers.stop();
});
