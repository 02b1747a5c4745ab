// @slow: it starts processes or servers of its own.
import { expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { startApi } from '../../support/api/start-api.ts';
import { countsOf, makeWebhook } from '../../support/data/deliveries.ts';
import { acceptMany, emailCounts } from '../../support/data/email-rows.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

// The limit is long because a busy machine is slow.
const limit = { timeoutMs: 120_000 };
const emails = 120;
const texts = 30;

// Shows F36
test('two workers that both sweep all the time, and a Redis that forgets: nothing is claimed, sent or delivered twice', async () => {
  const [own, sink, receiver, api] = await Promise.all([
    textingWorkspace(),
    startSmtpSink(),
    startWebhookReceiver(),
    startApi(),
  ]);
  const webhook = await makeWebhook(own, receiver.url);
  await Promise.all([acceptMany(own, emails), ...Array.from({ length: texts }, () => sendSms(api, own))]);
  // Without jobs in Redis, only the sweeps can find the work.
  await forgetRedis();
  changeSettings({ SMTP_URL: sink.url });
  // One worker has a process of its own, the other one runs in this process.
  const [process, workers] = await Promise.all([
    startWorkerProcess([], { SWEEP_SECONDS: '0.1' }),
    runWorkers(),
  ]);
  await sink.waitFor(emails / 4, limit);
  await forgetRedis();
  await sink.waitFor(emails / 2, limit);
  await forgetRedis();

  await waitFor('all are sent', async () => (await emailCounts(own)).sent === emails, limit);
  await waitFor('and delivered', async () => (await countsOf(webhook.id)).delivered === emails, limit);
  const taken = () =>
    query("SELECT id FROM sms_messages WHERE workspace_id = ? AND status IN ('sent', 'delivered')", [
      idToBytes(own.workspaceId),
    ]);
  await waitFor('and the texts', async () => (await taken()).length === texts, limit);
  const [exit] = await Promise.all([process.stop(), workers.stop()]);
  expect(exit.code).toBe(0);
  expect([sink.messages.length, receiver.requests.length]).toEqual([emails, emails]);
  expect(new Set(sink.messages.map(({ raw }) => raw.toString())).size).toBe(emails);
  expect(await query("SELECT id FROM simulator_messages WHERE direction = 'outbound'")).toHaveLength(texts);
  // No email had to be claimed a second time.
  const claims = await query('SELECT MAX(claims) AS most FROM emails');
  expect(claims[0]!['most']).toBe(1);
});
