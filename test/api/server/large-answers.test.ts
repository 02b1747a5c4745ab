// @slow: clients ask for many large answers and take nothing.
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { answerBudget } from '../../../api/middleware/large-body/budget.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const budgetBytes = 8 * 1024 * 1024;
/** Each fills the buffers of both ends, and then holds one answer of 1.8 MB; five of them would fill the budget. */
const clients = 6;
beforeEach(() => changeSettings({ LARGE_ANSWERS_BYTES: budgetBytes }));

async function withTemplate(api: Client) {
  const { key } = await workspace();
  const html = randomBytes(450_000).toString('hex');
  const body = { name: 'large', html, text: html };
  const made = await api.request('POST', '/v2/email/templates', { key, body });
  expect(made.status).toBe(201);
  const path = `/v2/email/templates/${made.body.id}`;
  const get = () => api.request('GET', path, { key });
  const change = () => api.request('PATCH', path, { key, body: { description: 'changed' } });
  return { key, path, body, get, change };
}

/** Opens a connection that asks for more than the buffers of both ends hold, and reads nothing. */
function openDeaf(api: Client, { path, key }: { path: string; key: string }, method = 'GET') {
  const socket = net.connect(Number(new URL(api.url).port), '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.pause();
  const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`;
  const rest = method === 'GET' ? '\r\n' : 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
  socket.write(`${head}${rest}`.repeat(20));
  return socket;
}

test('clients that take nothing of large answers hold bounded memory, and keep back nobody else', async () => {
  const api = await startApi();
  const [greedy, other] = [await withTemplate(api), await withTemplate(api)];
  const deaf = Array.from({ length: clients }, () => openDeaf(api, greedy));
  const refused = await waitFor('the share of the workspace to be used up', async () => {
    const answer = await greedy.get();
    return answer.status !== 200 && answer;
  });
  expect([refused.status, codeOf(refused.body)]).toEqual([503, 'service_unavailable']);
  expect(refused.headers['retry-after']).toBe('5');
  expect(answerBudget.takenBytes()).toBeLessThanOrEqual(budgetBytes);

  const whole = await other.get();
  expect(whole.status).toBe(200);
  expect(whole.body).toMatchObject(other.body);
  expect((await api.request('GET', '/v2/contacts', { key: greedy.key })).status).toBe(200);

  deaf.push(...Array.from({ length: clients }, () => openDeaf(api, greedy, 'PATCH')));
  const change = await waitFor('a change to be refused', async () => {
    const answer = await greedy.change();
    return answer.status !== 200 && answer;
  });
  expect([change.status, codeOf(change.body)]).toEqual([503, 'service_unavailable']);
  // A change that was under way before the budget was full still has its answer: one for each connection.
  const answerBytes = Buffer.byteLength(JSON.stringify(greedy.body)) + 1024;
  expect(answerBudget.takenBytes()).toBeLessThanOrEqual(budgetBytes + (clients + 1) * answerBytes);
  expect((await api.request('GET', '/v2/contacts', { key: other.key })).status).toBe(200);

  for (const socket of deaf) socket.destroy();
  await waitFor('the bytes to be free again', () => answerBudget.takenBytes() === 0);
  expect((await greedy.change()).status).toBe(200);
});

test('a client that takes nothing more of a large answer is cut', async () => {
  const api = await startApi({ stallTimeoutMs: 200 });
  const socket = openDeaf(api, await withTemplate(api));
  // A client that does not read learns that it was cut when it writes.
  await waitFor('the connection to be cut', () => {
    if (!socket.destroyed) socket.write('\r\n');
    return socket.destroyed;
  });
});

test.for([
  ['one byte', 'a'],
  ['two bytes', 'ä'],
  ['three bytes', '日'],
  ['a pair of surrogates', '😀'],
])('a large answer of characters of %s arrives as it is', async ([, character]) => {
  const api = await startApi();
  const { key } = await workspace();
  // Some units before the rest make both halves of a pair the last of a piece in one of the two.
  for (const before of ['', 'b']) {
    const text = before + character!.repeat(300_000 / character!.length);
    const template = { name: `large${before}`, html: 'a', text };
    const made = await api.request('POST', '/v2/email/templates', { key, body: template });
    expect(made.status).toBe(201);
    const path = `/v2/email/templates/${made.body.id}`;
    const { status, headers, body } = await api.request('GET', path, { key });
    expect(status).toBe(200);
    expect(Number(headers['content-length'])).toBeGreaterThan(256 * 1024);
    expect(body.text === text).toBe(true);
  }
});
