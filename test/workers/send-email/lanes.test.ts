import { beforeAll, expect, test } from 'vitest';
import { runWithRequest } from '../../../shared/common/request-context.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
let line: TcpProxy;

beforeAll(async () => {
  sink = await startSmtpSink();
  line = await startTcpProxy(sink.url);
  changeSettings({ SMTP_URL: line.url });
  own = await workspace();
});

test.each([
  ['transactional', 'send-email'],
  ['marketing', 'send-email-marketing'],
  ['authentication', 'send-email-authentication'],
])('an email of kind %s waits in the queue %s, with ids only', async (kind, queue) => {
  const requestId = `request-${kind}`;
  const email = await runWithRequest({ requestId }, () => acceptEmail(own, { kind }));
  const job = await waitFor('it comes in', () => queueOf(queue).getJob(`${email.id}-1`));
  expect(job.data).toEqual({ emailId: email.id, workspaceId: own.workspaceId, requestId });
  expect(job.opts).toMatchObject({ removeOnComplete: true, removeOnFail: true, stackTraceLimit: 1 });
});

test('workers of one lane leave the others alone', async () => {
  const send = (kind: string) => acceptEmail(own, { kind, recipient: `lane-${kind}@example.com` });
  const [bulk, code] = [await send('marketing'), await send('authentication')];
  const workers = await runWorkers(['send-email:authentication']);
  const next = await send('authentication');
  for (const each of [code, next])
    await waitFor('both codes are sent', async () => (await each.read()).status === 'sent');
  expect((await bulk.read()).status).toBe('queued');
  await workers.stop();
  const rest = await runWorkers(['send-email:marketing', 'send-email:transactional']);
  await waitFor('the marketing is sent', async () => (await bulk.read()).status === 'sent');
  await rest.stop();
});

test('a one-time code goes out before the marketing backlog that is in progress', async () => {
  const backlog = 400;
  const isBulk = (address: string | undefined) => address === 'bulk@example.com';
  for (let sent = 0; sent < backlog; sent += 50)
    await Promise.all(
      Array.from({ length: 50 }, () =>
        acceptEmail(own, { kind: 'marketing', recipient: 'bulk@example.com' }),
      ),
    );
  // The relay answers slowly (15 ms), so that the backlog lasts for a while.
  line.delay(15);
  const workers = await runWorkers(['send-email']);
  const bulk = () => sink.messages.filter(({ envelope }) => isBulk(envelope.to[0])).length;
  await sink.waitFor(() => bulk() >= 20);
  const before = bulk();
  await acceptEmail(own, { kind: 'authentication', recipient: 'code@example.com' });
  await sink.waitFor(() => sink.messages.some(({ envelope }) => envelope.to[0] === 'code@example.com'));
  // Emails that the worker had already taken may go first: one lane holds 40 at a time.
  expect(bulk() - before).toBeLessThan(150);
  expect(bulk()).toBeLessThan(backlog);
  await line.pass();
  await sink.waitFor(() => bulk() === backlog);
  await workers.stop();
});
