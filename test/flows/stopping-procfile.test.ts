// @slow: it starts, stops and breaks processes of the platform.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as procfile from '../../scripts/setup/start/procfile.ts';
import { query } from '../../shared/db/client.ts';
import { customerOf } from '../support/api/customer.ts';
import { countsOf, makeWebhook } from '../support/data/deliveries.ts';
import { statusReport } from '../support/data/mail-reports.ts';
import { letter } from '../support/data/new-email.ts';
import { textingWorkspace } from '../support/data/new-sms.ts';
import { useDatabase } from '../support/database/database.ts';
import { freePort } from '../support/processes/free-port.ts';
import { startProcess } from '../support/processes/processes.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { connectSmtp } from '../support/servers/smtp-client.ts';
import { startSmtpSink } from '../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

const started = { web: 'web started', inbound: 'inbound started' } as const;
const lines = procfile.read(join(import.meta.dirname, '..', '..', 'Procfile'));

// Shows F12
test('every process of the Procfile stops on SIGTERM with work in progress: it exits with 0, and nothing is lost or done twice', async () => {
  const [own, sink] = await Promise.all([textingWorkspace(), startSmtpSink()]);
  // Slow enough that a stop meets open deliveries.
  const receiver = await startWebhookReceiver({ respond: { delayMs: 300 } });
  const webhook = await makeWebhook(own, receiver.url, ['email.sent', 'sms.sent']);
  const [port, inboundPort] = [await freePort(), await freePort()];
  const settings = {
    PORT: String(port),
    BIND_ADDRESS: '127.0.0.1',
    INBOUND_PORT: String(inboundPort),
    INBOUND_BIND_ADDRESS: '127.0.0.1',
    RETURN_PATH_DOMAIN: 'bounces.example',
    SMTP_URL: sink.url,
    SIMULATOR_SECONDS: '0.2',
    LIST_COPY_WAIT_SECONDS: '1',
    // Long, because on a busy machine all processes finish their work at the same time.
    SHUTDOWN_SECONDS: '40',
  };
  // Without the options for V8: with them each process would compile the platform for a second. A stop is no other.
  const start = (line: procfile.Line) => {
    const { program, args } = procfile.partsOf(line);
    return startProcess(program, args, settings);
  };
  const release = start(lines.find(({ name }) => name === 'release')!);
  expect((await release.exited).code).toBe(0);
  const processes = lines
    .filter(({ name }) => name !== 'release')
    .map((line) => ({ name: line.name, ...start(line) }));
  const isUp = ({ name, output }: (typeof processes)[number]) =>
    output().includes(name in started ? started[name as keyof typeof started] : 'workers started');
  await waitFor(
    'all have started',
    () => {
      expect(processes.filter((each) => !isUp(each)).map(({ name, output }) => [name, output()])).toEqual([]);
      return true;
    },
    { timeoutMs: 200_000 },
  );
  const api = customerOf(`http://127.0.0.1:${port}`, own);

  await api.post('/v2/email', { body: letter(own, { subject: 'first' }) });
  await waitFor('the first email is out', () => sink.messages.length === 1);
  const bounceAddress = sink.messages[0]!.envelope.from;
  const contacts = Array.from({ length: 400 }, (_, index) => ({ number: `+4474000${10_000 + index}` }));
  await api.post('/v2/contacts/batch', { body: { contacts } });
  const list = await api.post('/v2/contact-lists', { body: { name: 'All of them', kind: 'static' } });
  const builtin = (await api.get('/v2/contact-lists')).data.find(({ kind }) => kind === 'builtin')!;

  // The stop meets a half-sent report, a running copy, and more emails and texts than can be sent at once.
  const relay = await connectSmtp(inboundPort);
  await relay.reply();
  for (const line of ['EHLO relay.example', 'MAIL FROM:<>', `RCPT TO:<${bounceAddress}>`, 'DATA'])
    expect(await relay.say(line)).toMatch(/^[23]/);
  const report = statusReport().toString('latin1');
  relay.socket.write(report.slice(0, report.length / 2));
  const asked = [
    ...Array.from({ length: 40 }, (_, index) =>
      api.post('/v2/email', {
        body: letter(own, { subject: `email ${index}`, recipient: 'grace@example.com' }),
      }),
    ),
    ...Array.from({ length: 10 }, (_, index) =>
      api.post('/v2/sms', { body: { recipient: '+447700900123', content: `Text ${index}` } }),
    ),
  ];
  const answers = await Promise.all(asked);
  expect(answers.map(({ status }) => status)).toEqual(asked.map(() => 'queued'));
  // The row shows that the web process is working on this request.
  const copied = api.post('/v2/contact-lists/{id}/contacts', {
    path: { id: list.id },
    body: { fromLists: [builtin.id] },
  });
  await waitFor(
    'the copy is asked for',
    async () => (await query('SELECT 1 FROM contact_list_copies')).length > 0,
  );

  const exits = processes.map((each) => each.stop());
  relay.socket.write(`${report.slice(report.length / 2)}\r\n.\r\n`);
  expect(await relay.reply()).toMatch(/^250 /);
  await relay.closed;
  await copied;
  const ends = await Promise.all(exits);
  expect(ends.map(({ code }, index) => [processes[index]!.name, code])).toEqual(
    processes.map(({ name }) => [name, 0]),
  );
  for (const { output } of processes) expect(output()).not.toMatch(/"level":"(error|fatal)"/);

  changeSettings({ SMTP_URL: sink.url, SIMULATOR_SECONDS: 0.2, LIST_COPY_WAIT_SECONDS: 1 });
  const workers = await runWorkers();
  await waitFor('all events have been delivered', async () => {
    const rows = await query(
      `SELECT status, attempts, lease_token IS NOT NULL AS held, COUNT(*) AS n FROM webhook_deliveries
       GROUP BY status, attempts, held`,
    );
    expect(rows.map((row) => ({ ...row }))).toEqual([{ status: 'delivered', attempts: 1, held: 0, n: 51 }]);
    return true;
  });
  await waitFor('the copy is over', async () => {
    const [row] = await query('SELECT COUNT(*) AS n FROM contact_list_members');
    return Number(row!['n']) === 400;
  });
  await waitFor('the phones have reported', async () => {
    const [row] = await query("SELECT COUNT(*) AS n FROM sms_messages WHERE status = 'delivered'");
    return Number(row!['n']) === 10;
  });
  await workers.stop();
  const subjects = sink.messages.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw.toString())![1]!);
  expect(subjects.toSorted()).toEqual(
    ['first', ...Array.from({ length: 40 }, (_, index) => `email ${index}`)].toSorted(),
  );
  expect(receiver.requests).toHaveLength(51);
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(51);
  const [texts] = await query("SELECT COUNT(*) AS n FROM simulator_messages WHERE direction = 'outbound'");
  expect(Number(texts!['n'])).toBe(10);
  const [bounced] = await query("SELECT COUNT(*) AS n FROM events WHERE type = 'email.bounced'");
  expect(Number(bounced!['n'])).toBe(1);
  expect(await countsOf(webhook.id)).toEqual({ inRedis: 0, parked: 0, delivered: 51, failed: 0, skipped: 0 });
});
