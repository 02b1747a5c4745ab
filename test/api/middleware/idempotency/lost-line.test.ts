import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { config } from '../../../../shared/config/config.ts';
import { query } from '../../../../shared/db/client.ts';
import { workspace } from '../../../support/data/factory.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { atEnd } from '../../../support/runner/at-end.ts';
import { startTcpProxy, type TcpProxy } from '../../../support/servers/tcp-proxy.ts';
import { waitFor } from '../../../support/time/wait-for.ts';
import { ask, codeOf, essence, type Question, type Reply } from './ask.ts';
import { startEffectsApi } from './effects-api.ts';

let line: TcpProxy;
let directUrl: string;
beforeAll(async () => {
  directUrl = config.MYSQL_URL;
  line = await startTcpProxy(directUrl, 3306);
  changeSettings({ MYSQL_URL: line.url });
});
useDatabase();

let server: mysql.Connection;
let effectsApi: Awaited<ReturnType<typeof startEffectsApi>>;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  server = await mysql.createConnection({ uri: directUrl });
  atEnd(() => server.end());
  effectsApi = await startEffectsApi();
  own = await workspace();
});
afterEach(async () => {
  effectsApi.behave();
  await line.pass();
  await waitFor('the database answers', () => query('SELECT 1'));
});

const newQuestion = (): Question & { idempotencyKey: string } => {
  const idempotencyKey = randomUUID();
  return { key: own.key, idempotencyKey, path: '/v2/effects', body: { name: idempotencyKey } };
};

/** Asks MySQL directly whether it has the answer; with `uncommitted` also an answer that may be rolled back. */
async function hasAnswer(idempotencyKey: string, uncommitted: boolean): Promise<boolean> {
  const level = uncommitted ? 'UNCOMMITTED' : 'COMMITTED';
  await server.query(`SET SESSION TRANSACTION ISOLATION LEVEL READ ${level}`);
  const [rows] = await server.query<mysql.RowDataPacket[]>(
    'SELECT 1 FROM idempotency_records WHERE idempotency_key = ? AND answer IS NOT NULL',
    [Buffer.from(idempotencyKey)],
  );
  return rows.length > 0;
}

/** Sends the request again until it is done, as a client does. */
function askUntilDone(question: Question): Promise<Reply> {
  return waitFor('it is done', async () => {
    const reply = await ask(effectsApi.url, question);
    if (![201, 409, 503].includes(reply.status)) throw new Error(`${reply.status}: ${reply.text}`);
    return reply.status === 201 && reply;
  });
}

async function expectDoneOnce(question: Question & { idempotencyKey: string }, done: Reply): Promise<void> {
  expect(await effectsApi.effects(question.idempotencyKey)).toBe(1);
  const replay = await ask(effectsApi.url, question);
  expect([essence(replay), replay.isReplayed]).toEqual([essence(done), true]);
}

const delayMs = 300;

// Shows F22
test('when the answer to COMMIT is lost the client gets 503, and its retry the answer of what was done', async () => {
  const question = newQuestion();
  effectsApi.behave({ handle: () => line.delay(delayMs) });
  const first = ask(effectsApi.url, question);
  await waitFor('it has committed', () => hasAnswer(question.idempotencyKey, false), { intervalMs: 5 });
  line.cut();
  const refused = await first;
  expect([refused.status, codeOf(refused)]).toEqual([503, 'service_unavailable']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  effectsApi.behave();
  await line.pass();
  const done = await askUntilDone(question);
  expect(done.isReplayed).toBe(true);
  await expectDoneOnce(question, done);
});

// Shows F22
test('when COMMIT does not reach the server the client gets 503, and its retry is the first that is done', async () => {
  const question = newQuestion();
  effectsApi.behave({ handle: () => line.delay(delayMs) });
  const first = ask(effectsApi.url, question);
  await waitFor('all but COMMIT is done', () => hasAnswer(question.idempotencyKey, true), { intervalMs: 5 });
  line.cut();
  const refused = await first;
  expect([refused.status, codeOf(refused)]).toEqual([503, 'service_unavailable']);
  effectsApi.behave();
  await line.pass();
  const done = await askUntilDone(question);
  expect(done.isReplayed).toBe(false);
  await expectDoneOnce(question, done);
});

test('whenever the line to the database breaks, the retry ends with one effect and its answer', async () => {
  const askTwo = () => {
    const questions = [newQuestion(), newQuestion()];
    const first = Promise.all(questions.map((question) => ask(effectsApi.url, question)));
    return { questions, first };
  };
  // Opens the connections first, so that the count of pieces below does not include this.
  await askTwo().first;
  const before = line.passed();
  await askTwo().first;
  const whole = line.passed() - before;
  for (let pieces = 0; pieces < whole; pieces += 2) {
    line.cutAfter(pieces);
    const { questions, first } = askTwo();
    for (const { status } of await first) expect([201, 503]).toContain(status);
    await line.pass();
    for (const question of questions) await expectDoneOnce(question, await askUntilDone(question));
  }
});

function send(question: Question & { idempotencyKey: string }, { bytes }: { bytes?: number } = {}) {
  const body = JSON.stringify(question.body);
  const text =
    `POST ${question.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${question.key}\r\n` +
    `Idempotency-Key: ${question.idempotencyKey}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
  const socket = net.connect(effectsApi.port, '127.0.0.1').setNoDelay(true);
  socket.on('error', () => undefined).write(text.slice(0, bytes === undefined ? text.length : -bytes));
  return socket;
}

test('a client that goes away while it sends the body leaves nothing, and its key free', async () => {
  const question = newQuestion();
  const before = effectsApi.requests();
  const socket = send(question, { bytes: 5 });
  await waitFor('its headers have come', () => effectsApi.requests() > before);
  socket.destroy();
  const done = await ask(effectsApi.url, question);
  expect([done.status, done.isReplayed]).toEqual([201, false]);
  await expectDoneOnce(question, done);
});

test('a client that goes away while its request is worked on finds the answer when it comes back', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  effectsApi.behave({
    handle: () => {
      begin();
      return over;
    },
  });
  const question = newQuestion();
  const socket = send(question);
  await begun;
  socket.destroy();
  const meanwhile = await ask(effectsApi.url, question);
  expect([meanwhile.status, codeOf(meanwhile)]).toEqual([409, 'idempotency_in_progress']);
  end();
  const done = await askUntilDone(question);
  expect(done.isReplayed).toBe(true);
  await expectDoneOnce(question, done);
});

// Shows F6
test('whenever a client goes away, there is an effect with its answer or neither', async () => {
  const questions = Array.from({ length: 30 }, newQuestion);
  await Promise.all(
    questions.map(async (question, index) => {
      const socket = send(question);
      await sleep(index);
      socket.destroy();
    }),
  );
  for (const question of questions) await expectDoneOnce(question, await askUntilDone(question));
});
