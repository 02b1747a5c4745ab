import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { fileBudget, memoryBudget } from '../../../api/middleware/large-body.ts';
import { endAfterRequest, readBody } from '../../../api/middleware/raw-body.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { parseRaw, sendRaw } from '../endpoint/small-api.ts';
import { headOf, openRaw } from './raw-uploads.ts';

useDatabase();

const mebibyte = 1024 * 1024;
type Own = Awaited<ReturnType<typeof workspace>>;
let api: Client;
let own: Own;
const opened: net.Socket[] = [];
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});
// A rate of 0 lets an upload be held for as long as a test needs, however slow the machine is.
beforeEach(() => changeSettings({ LARGE_BODIES_BYTES: 100 * mebibyte, LARGE_BODY_BYTES_PER_SECOND: 0 }));
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await waitFor('no room is taken', () => fileBudget.takenBytes() === 0 && memoryBudget.takenBytes() === 0);
});

const content = randomBytes(2_000_000).toString('base64');
const attachments = [{ filename: 'a.bin', contentType: 'a/b', content }];
const postLarge = (by: Own) =>
  api.request('POST', '/v2/email', { key: by.key, body: JSON.stringify(newEmail(by, { attachments })) });
const typeOf = (code: string) => `${api.url}/problems/${code}`;
async function open(url: string, text: string): Promise<net.Socket> {
  const socket = await openRaw(url, text);
  opened.push(socket);
  return socket;
}
/** Sends `bytes` of a longer body, and waits until the server has received them. */
async function hold(by: Own, bytes: number, length = bytes + 1): Promise<net.Socket> {
  const before = fileBudget.takenBytes() + memoryBudget.takenBytes();
  const socket = await open(api.url, headOf(by, '/v2/email', length) + ' '.repeat(bytes));
  await waitFor('it has come', () => fileBudget.takenBytes() + memoryBudget.takenBytes() === before + bytes);
  return socket;
}
/** The server's answer on a connection. */
async function answerOn(socket: net.Socket) {
  const [data] = await once(socket, 'data');
  return parseRaw(String(data));
}

test.each([
  ['/v2/email', 'email_not_queued'],
  ['/v2/contacts/batch', 'service_unavailable'],
])(
  '%s says %s at once, before any of the body has come, when there is no room for it',
  async (path, code) => {
    changeSettings({ LARGE_BODIES_BYTES: mebibyte });
    const answer = parseRaw(await sendRaw(Number(new URL(api.url).port), headOf(own, path, 2_000_000)));
    expect([answer.status, answer.json().type]).toEqual([503, typeOf(code)]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(fileBudget.takenBytes()).toBe(0);
  },
);

test('a chunked body for which there is no room is refused as soon as it is large', async () => {
  changeSettings({ LARGE_BODIES_BYTES: mebibyte });
  const piece = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
  const head = headOf(own, '/v2/email', null);
  const answer = parseRaw(await sendRaw(Number(new URL(api.url).port), head, ...Array(20).fill(piece)));
  expect(answer.status).toBe(503);
});

// Shows A28
test('who announces much and sends a byte takes the room of a byte', async () => {
  changeSettings({ LARGE_BODIES_BYTES: 12 * mebibyte });
  const greedy = await workspace();
  for (let count = 0; count < 10; count += 1) await hold(greedy, 1, 4_000_000);
  expect([fileBudget.takenBytes(), memoryBudget.takenBytes()]).toEqual([0, 10]);
  expect((await postLarge(own)).status).toBe(201);
});

// Shows A28
test('a workspace sends at most ten large bodies at a time; another sends its own meanwhile', async () => {
  const greedy = await workspace();
  const held = [];
  for (let count = 0; count < 10; count += 1) held.push(await hold(greedy, 1, 4_000_000));
  const eleventh = await open(api.url, headOf(greedy, '/v2/email', 4_000_000));
  expect((await answerOn(eleventh)).json().type).toBe(typeOf('email_not_queued'));
  expect((await postLarge(own)).status).toBe(201);
  held[0]!.destroy();
  await waitFor('it is gone', () => memoryBudget.takenBytes() === 9);
  expect((await postLarge(greedy)).status).toBe(201);
});

// Shows A28
test('a workspace that has half of the room leaves the other half to others', async () => {
  changeSettings({ LARGE_BODIES_BYTES: 12 * mebibyte });
  const other = await workspace();
  const held = [await hold(own, 3_000_000), await hold(own, 3_000_000)];
  expect((await postLarge(own)).body.type).toBe(typeOf('email_not_queued'));
  expect((await postLarge(other)).status).toBe(201);
  for (const socket of held) socket.destroy();
  await waitFor('it is free again', () => fileBudget.takenBytes() === 0);
  expect((await postLarge(own)).status).toBe(201);
});

// Shows A28
test('workspaces that take all they get together leave room for one more', async () => {
  changeSettings({ LARGE_BODIES_BYTES: 40 * mebibyte });
  for (const greedy of [await workspace(), await workspace()])
    for (let count = 0; count < 8; count += 1) {
      const before = fileBudget.takenBytes();
      const socket = await open(api.url, headOf(greedy, '/v2/email', 2_000_001) + ' '.repeat(2_000_000));
      const refused = once(socket, 'data').then(() => true);
      await waitFor('it is taken or refused', async () =>
        fileBudget.takenBytes() === before + 2_000_000 ? true : await Promise.race([refused, later()]),
      );
    }
  expect(fileBudget.takenBytes()).toBeGreaterThan(20 * mebibyte);
  expect((await postLarge(own)).status).toBe(201);
});

const later = () => new Promise<boolean>((resolve) => setImmediate(resolve, false));

test('of bodies that fill the room as they grow, the one that finds none is refused and the others are taken', async () => {
  changeSettings({ LARGE_BODIES_BYTES: 10 * mebibyte });
  const [one, other] = [await workspace(), await workspace()];
  const body = (by: Own) => {
    const json = JSON.stringify(newEmail(by));
    return json + ' '.repeat(6_000_000 - json.length);
  };
  // Each fits when it is announced; both together do not.
  const sockets = await Promise.all(
    [one, other].map((by) =>
      openRaw(api.url, headOf(by, '/v2/email', 6_000_000) + body(by).slice(0, 4_000_000)),
    ),
  );
  await waitFor('both are on their way', () => fileBudget.takenBytes() === 8_000_000);
  const answers = sockets.map(answerOn);
  sockets[0]!.write(body(one).slice(4_000_000, 5_999_999));
  await waitFor('the first has come but for a byte', () => fileBudget.takenBytes() === 9_999_999);
  sockets[1]!.write(body(other).slice(4_000_000));
  expect((await answers[1]!).status).toBe(503);
  sockets[0]!.write(' ');
  expect((await answers[0]!).status).toBe(201);
});

// Shows A28
test('bodies that stay small take room in memory while they are on their way, and no more than there is', async () => {
  const held: net.Socket[] = [];
  for (const by of [await workspace(), await workspace()])
    for (let count = 0; count < 100; count += 1)
      held.push(await open(api.url, headOf(by, '/v2/contacts/batch', 1_000_000) + ' '.repeat(999_000)));
  const refused = () => held.filter(({ bytesRead }) => bytesRead > 0).length;
  await waitFor('each is held or refused', () => memoryBudget.takenBytes() / 999_000 + refused() === 200);
  expect(memoryBudget.takenBytes()).toBeLessThan(128 * mebibyte);
  const json = JSON.stringify(newEmail(own));
  const email = json + ' '.repeat(900_000 - json.length);
  expect((await api.request('POST', '/v2/email', { key: own.key, body: email })).status).toBe(201);
});

/** Starts a server that reads bodies, requires at least this rate, and answers with the outcome. */
async function startReader(leastRate: { bytes: number; withinMs: number }): Promise<string> {
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const options = {
      limitBytes: 9_000_000,
      timeoutMs: 60_000,
      owner: 'nobody',
      busyCode: 'service_unavailable',
      leastRate,
    } as const;
    const outcome = await readBody(request, response, options).catch((error) => error);
    if (outcome.discard) outcome.discard();
    const text: string = outcome.code ?? `${outcome.byteLength} bytes`;
    endAfterRequest(request, response, 200, { 'Content-Length': text.length }, text);
  };
  const server = http
    .createServer((request, response) => void serve(request, response))
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

// Shows A28
test('a large body that comes too slowly is 408, and its room is free; one that comes slowly is taken', async () => {
  const key = { key: 'any' };
  const strict = await startReader({ bytes: 1_000_000, withinMs: 50 });
  const socket = await open(strict, headOf(key, '/', 3_000_000) + ' '.repeat(2_000_000));
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/\r\nConnection: close\r\n[^]*\r\n\r\nrequest_timeout$/);

  const lenient = await startReader({ bytes: 1, withinMs: 60_000 });
  const slow = await open(lenient, headOf(key, '/', 3_000_000) + ' '.repeat(2_000_000));
  await waitFor('it has begun', () => fileBudget.takenBytes() === 2_000_000);
  slow.write(' '.repeat(1_000_000));
  expect(String((await once(slow, 'data'))[0])).toMatch(/\r\n\r\n3000000 bytes$/);
});
