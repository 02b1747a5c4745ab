// @slow: it starts, stops and breaks processes of the platform.
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { type CommitCut, startCommitCut } from '../../support/database/commit-cut.ts';
import { useDatabase } from '../../support/database/database.ts';
import { type PlatformProcess, startWeb } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let survivor: Client;
let sink: SmtpSink;
let own: Awaited<ReturnType<typeof workspace>>;
let mysql: CommitCut;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  survivor = await startApi();
  own = await workspace();
  mysql = await startCommitCut(config.MYSQL_URL);
});

const bodyOf = (reference: string) =>
  newEmail(own, { clientReference: reference, recipient: `${reference}@example.com` });

async function storedEmails(reference: string): Promise<string[]> {
  const path = `/v2/email?clientReference=${reference}`;
  const { body } = await survivor.request('GET', path, { key: own.key });
  return body.data.map(({ id }: { id: string }) => id);
}

async function isWoken(reference: string): Promise<boolean> {
  const [id] = await storedEmails(reference);
  const jobs = await queueOf('send-email').getJobs();
  return jobs.some((job) => job?.data.emailId === id);
}

/** Sends the request during which the process is killed, and never reads the answer. */
function sendWithoutReading({ url }: { url: string }, reference: string): net.Socket {
  const body = JSON.stringify(bodyOf(reference));
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(
    `POST /v2/email HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${own.key}\r\nIdempotency-Key: ${reference}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

const moments = {
  'before its COMMIT': { isDone: false, isWoken: false },
  'between its COMMIT and the wake-up of a worker': { isDone: true, isWoken: false },
  'after the wake-up of a worker, its answer unread': { isDone: true, isWoken: true },
};
type Moment = keyof typeof moments;

async function killAt(moment: Moment, reference: string, web: PlatformProcess & { url: string }) {
  const { isDone, isWoken: shouldWake } = moments[moment];
  const reached = shouldWake
    ? waitFor('a worker is woken', () => isWoken(reference))
    : mysql.holdNext(isDone ? 'after' : 'before');
  const socket = sendWithoutReading(web, reference);
  await reached;
  expect(await storedEmails(reference)).toHaveLength(isDone ? 1 : 0);
  expect(await isWoken(reference)).toBe(shouldWake);
  await web.kill();
  socket.destroy();
}

// Shows F1, F2, F3
test('a web process killed with a request in flight: its email goes out once, and the retry has its answer', async () => {
  const killed = await Promise.all(
    (Object.keys(moments) as Moment[]).map(async (moment) => ({
      moment,
      reference: randomUUID(),
      web: await startWeb({ MYSQL_URL: mysql.url }),
    })),
  );
  for (const { moment, reference, web } of killed) await killAt(moment, reference, web);

  await runWorkers(['send-email', 'sweep']);
  const arrived = (reference: string) =>
    sink.messages.filter(({ envelope }) => envelope.to.includes(`${reference}@example.com`)).length;
  for (const { moment, reference } of killed) {
    // Nobody has asked again yet.
    if (moments[moment].isDone) await waitFor(`it goes out: ${moment}`, () => arrived(reference) === 1);
    const retry = () =>
      survivor.request('POST', '/v2/email', {
        key: own.key,
        headers: { 'idempotency-key': reference },
        body: bodyOf(reference),
      });
    const done = await waitFor('the retry is answered', async () => {
      const answer = await retry();
      return answer.status === 201 && answer;
    });
    expect(done.headers['idempotent-replayed']).toBe(moments[moment].isDone ? 'true' : undefined);
    expect(await storedEmails(reference)).toEqual([done.body.id]);
    await waitFor('it has gone out', () => arrived(reference) === 1);
  }
  for (const { reference } of killed) expect(arrived(reference)).toBe(1);
});
