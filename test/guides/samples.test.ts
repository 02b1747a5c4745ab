// @slow: it runs each sample of the guides.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { makeDemo } from '../../scripts/setup/start/demo-workspace.ts';
import { query } from '../../shared/db/client.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { startSmtpSink } from '../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { difference, guidesOf, installClient, run, type Sample, samplesOf, variablesOf } from './samples.ts';

// The code in the guides is run without a change, in order, on a platform as scripts/start makes it; where a
// guide shows an answer, the platform gives it.
useDatabase();

let api: Client;
let webhookUrl: string;
const folder = mkdtempSync(join(tmpdir(), 'samples-'));
beforeAll(async () => {
  atEnd(() => rmSync(folder, { recursive: true }));
  installClient(folder);
  const [sink, receiver] = await Promise.all([startSmtpSink(), startWebhookReceiver()]);
  changeSettings({
    SMTP_URL: sink.url,
    EMAIL_DELIVERED_ON: 'accept',
    SYSTEM_SENDER: 'Messaging <alerts@demo.example>',
    TEST_SENDER: 'try@demo.example',
    SIMULATOR_SECONDS: 0,
    SHORT_LINKS_TO_DRAMA_NUMBERS: true,
    WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.0/8'],
    // No DNS server answers there: domains stay pending, and no request leaves the machine.
    DNS_SERVERS: ['127.0.0.1:1'],
    DNS_TIMEOUT_SECONDS: 0.1,
  });
  api = await startApi();
  webhookUrl = `${receiver.url}/hooks`;
  await runWorkers();
});

const guides = guidesOf('Use the API').filter((guide) => samplesOf(guide).length > 0);

test('most guides have commands, and many show the answer', () => {
  expect(guides.length).toBeGreaterThanOrEqual(13);
  const samples = guides.flatMap(samplesOf);
  expect(samples.filter(({ answer }) => answer !== undefined).length).toBeGreaterThan(35);
});

const onlyReads = ({ command }: Sample) => !/ -(?:d|F|X)\b/.test(command);

test.each(guides)('the commands of the guide %s do what it says', async (guide) => {
  const samples = samplesOf(guide);
  // Each guide is written for a new platform, without earlier data.
  await query("UPDATE workspaces SET name = 'Former' WHERE name = 'Demo'");
  const { apiKey } = await makeDemo();
  let known: Record<string, string> = { API_KEY: apiKey, WEBHOOK_URL: webhookUrl };
  for (const sample of samples) {
    const place = `${guide}.md:${sample.line}`;
    const ask = async () => {
      const answer = await run(sample, { url: api.url, folder, variables: known });
      const refused = answer.includes('/problems/') && !sample.answer?.includes('/problems/');
      if (refused) throw new Error(`${place} is refused: ${answer}`);
      const found = sample.answer === undefined ? undefined : difference(sample.answer, answer);
      if (found !== undefined) throw new Error(`${place}: ${found} in ${answer}`);
      return { answer };
    };
    // Work may go on after an answer, so a command that only reads is repeated until its answer is as shown.
    const { answer } = onlyReads(sample) ? await waitFor(place, ask, { timeoutMs: 120_000 }) : await ask();
    known = { ...known, ...variablesOf(answer) };
  }
});
