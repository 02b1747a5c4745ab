import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createHttpServer } from '../../../api/http-server.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { goodKey, parseRaw, sendRaw, startSmallApi } from '../endpoint/small-api.ts';

const live = 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n';
const authorized = `Host: a\r\nAuthorization: Bearer ${goodKey}\r\n`;
const hold = `POST /v2/held HTTP/1.1\r\n${authorized}Content-Length: 0\r\n\r\n`;
const statuses = (answers: string) => answers.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(9)));

/** Opens a connection; `received` returns all the data that has come on it. */
async function open(port: number, localAddress = '127.0.0.1') {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
  let received = '';
  socket.on('data', (chunk) => (received += chunk));
  const closed = once(socket, 'close');
  await Promise.race([once(socket, 'connect'), closed]);
  return { socket, closed, received: () => received };
}

test('requests that are sent without waiting are dealt with one after the other, in their order', async () => {
  const api = await startSmallApi();
  const { socket, received } = await open(api.port);
  const create = (name: string) => {
    const body = JSON.stringify({ name, weightGrams: 1 });
    return `POST /v2/parcels HTTP/1.1\r\n${authorized}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  socket.write(hold + create('one') + create('two') + live);
  await api.held.started;
  // The same process answers this request, so any work that ran beside the first request would have started by now.
  expect((await api.call('GET', '/health/live', { key: null })).status).toBe(200);
  expect(api.transactions).toEqual(['began']);
  api.held.release();
  await waitFor('all four answers', () => statuses(received())?.length === 4);
  expect(statuses(received())).toEqual([200, 201, 201, 200]);
  expect(received().indexOf('"one"')).toBeLessThan(received().indexOf('"two"'));
  socket.destroy();
});

test('of one connection one request is begun in a turn of the event loop, so that others are not kept waiting', async () => {
  let turn = 0;
  const count = () => {
    turn += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  onTestFinished(() => clearImmediate(counting));
  const turnsOf = new Map<number, number[]>();
  const server = createHttpServer(({ socket }, response) => {
    const turns = turnsOf.get(socket.remotePort!) ?? [];
    turnsOf.set(socket.remotePort!, [...turns, turn]);
    response.end('at once');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const clients = await Promise.all(Array.from({ length: 10 }, () => open(port)));
  for (const { socket } of clients) socket.write(live.repeat(80));
  await waitFor('all of their answers', () =>
    clients.every(({ received }) => statuses(received())?.length === 80),
  );
  expect(turnsOf.size).toBe(10);
  for (const turns of turnsOf.values()) expect(new Set(turns).size).toBe(80);
  for (const { socket } of clients) socket.destroy();
});

test('a connection with more than a hundred requests that wait is closed', async () => {
  const api = await startSmallApi();
  const { socket, closed, received } = await open(api.port);
  socket.write(hold + live.repeat(150));
  await closed;
  expect(received()).toBe('');
  const patient = await open(api.port);
  patient.socket.write(live.repeat(100));
  await waitFor('a hundred answers', () => statuses(patient.received())?.length === 100);
  patient.socket.destroy();
});

test('an answer that the client does not take is thrown away, and the connection closed', async () => {
  const api = await startSmallApi({ answerTimeoutMs: 300 });
  const { socket, closed } = await open(api.port);
  socket.pause();
  // The answers are more than the buffers between client and server hold.
  for (let count = 0; count < 20; count += 1) socket.write(`GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n`);
  socket.write('GET /assets/scalar.js HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(10));
  await waitFor('the server has closed it', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    api.server.getConnections((_error, count) => resolve(count));
    return (await promise) === 0;
  });
  socket.resume();
  await closed;
});

test('a client that takes its answers, however many, is not cut', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const api = await startSmallApi({ answerTimeoutMs: 100 });
  const { socket, received } = await open(api.port);
  for (let count = 1; count <= 5; count += 1) {
    socket.write(live);
    await waitFor('its answer', () => statuses(received())?.length === count);
    // The server has checked the connection, and the time limit for an answer is over.
    vi.advanceTimersByTime(120);
  }
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});

test('what is no HTTP after a whole request does not become its answer', async () => {
  const api = await startSmallApi();
  const { socket, closed, received } = await open(api.port);
  socket.write(`${hold}garbage\r\n\r\n`);
  await api.held.started;
  api.held.release();
  await closed;
  expect(statuses(received())).toEqual([200]);
});

test('no header is left out because there are many', async () => {
  const api = await startSmallApi();
  const many = 'a:\r\n'.repeat(2_500);
  const answer = parseRaw(
    await sendRaw(api.port, `GET /v2/parcels HTTP/1.1\r\nHost: a\r\n${many}${authorized.slice(9)}\r\n`),
  );
  expect(answer.status).toBe(200);
  const twice = `${many}Authorization: Bearer bad\r\n`;
  const refused = await sendRaw(api.port, `GET /v2/parcels HTTP/1.1\r\n${authorized}${twice}\r\n`);
  expect(parseRaw(refused).status).toBe(401);
});

test('an address has so many connections at most, and others theirs; one that ends makes room', async () => {
  changeSettings({ CONNECTIONS_PER_ADDRESS: 3 });
  const api = await startSmallApi();
  changeSettings({ CONNECTIONS_PER_ADDRESS: 6000 });
  const held = await Promise.all(Array.from({ length: 3 }, () => open(api.port, '127.0.0.2')));
  await (await open(api.port, '127.0.0.2')).closed;
  expect((await api.call('GET', '/health/live', { key: null })).status).toBe(200);
  held.pop()!.socket.destroy();
  await waitFor('there is room again', async () => {
    const { socket, received } = await open(api.port, '127.0.0.2');
    socket.write(live);
    const isServed = await Promise.race([
      once(socket, 'close').then(() => false),
      waitFor('an answer', () => received() !== ''),
    ]);
    socket.destroy();
    return isServed;
  });
  for (const { socket } of held) socket.destroy();
});

test('behind a proxy its one address may have any number', async () => {
  changeSettings({ CONNECTIONS_PER_ADDRESS: 3, TRUST_PROXY: 1 });
  const api = await startSmallApi();
  changeSettings({ CONNECTIONS_PER_ADDRESS: 6000, TRUST_PROXY: 0 });
  const held = await Promise.all(Array.from({ length: 6 }, () => open(api.port)));
  for (const { socket } of held) socket.write(live);
  await waitFor('all are answered', () => held.every(({ received }) => received() !== ''));
  for (const { socket } of held) socket.destroy();
});

test('where proxies are named, only they may have any number', async () => {
  changeSettings({ CONNECTIONS_PER_ADDRESS: 3, TRUST_PROXY: ['127.0.0.1', '10.0.0.0/8'] });
  const api = await startSmallApi();
  changeSettings({ CONNECTIONS_PER_ADDRESS: 6000, TRUST_PROXY: 0 });
  const held = await Promise.all(Array.from({ length: 6 }, () => open(api.port)));
  held.push(...(await Promise.all(Array.from({ length: 3 }, () => open(api.port, '127.0.0.2')))));
  for (const { socket } of held) socket.write(live);
  await waitFor('all are answered', () => held.every(({ received }) => received() !== ''));
  await (await open(api.port, '127.0.0.2')).closed;
  for (const { socket } of held) socket.destroy();
});

test('past MAX_CONNECTIONS a further one is closed at once', async () => {
  changeSettings({ MAX_CONNECTIONS: 10 });
  const api = await startSmallApi();
  changeSettings({ MAX_CONNECTIONS: 10_000 });
  const held = await Promise.all(Array.from({ length: 10 }, () => open(api.port)));
  await (await open(api.port)).closed;
  for (const { socket } of held) socket.destroy();
});
