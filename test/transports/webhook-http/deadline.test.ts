import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { createNameResolver } from '../../../shared/transports/webhook-http/names.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { startDnsServer } from '../../support/servers/dns-server.ts';
import { answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { isPending, skippableTimers } from '../../support/time/skip-time.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { attemptTo, startAgent } from './attempt-to.ts';

/** Short, because each test reaches this deadline; a test itself waits as long as needed. */
const timeoutMs = 300;
const timedOut = { responseStatus: null, responseBody: null, error: 'timeout' };

test('the deadline covers the resolution of the name', async () => {
  const dns = await startDnsServer(() => 'silent');
  const names = createNameResolver({ servers: [dns.address] });
  atEnd(names.close);
  const agent = startAgent({ resolve: names.resolve });
  const result = await agent.post(attemptTo('http://hooks.example/', { timeoutMs }));
  expect(result).toMatchObject(timedOut);
  expect(result.durationMs).toBeGreaterThanOrEqual(timeoutMs);
  await waitFor('the question', () => dns.questions.some((question) => question.name === 'hooks.example'));
  await waitFor('the origin to be forgotten', () => agent.originCount() === 0);
});

test('the deadline covers the connection', async () => {
  const port = await startDeafServer();
  const agent = startAgent();
  expect(await agent.post(attemptTo(`http://127.0.0.1:${port}/`, { timeoutMs }))).toMatchObject(timedOut);
  await waitFor('the origin to be forgotten', () => agent.originCount() === 0);
});

test('the deadline covers TLS', async () => {
  const { port, sockets } = await startServer(() => {});
  const agent = startAgent();
  expect(await agent.post(attemptTo(`https://127.0.0.1:${port}/`, { timeoutMs }))).toMatchObject(timedOut);
  await waitFor('the connection to close', () => sockets.size === 0);
  await waitFor('the origin to be forgotten', () => agent.originCount() === 0);
});

test('the deadline covers the sending of the body', async () => {
  const { port, sockets } = await startServer((socket) => socket.pause());
  const agent = startAgent();
  const body = Buffer.alloc(32 * 1024 * 1024, 'x');
  const url = `http://127.0.0.1:${port}/`;
  expect(await agent.post(attemptTo(url, { timeoutMs, body }))).toMatchObject(timedOut);
  for (const socket of sockets) socket.resume();
  await waitFor('the connection to close', () => sockets.size === 0);
  await waitFor('the origin to be forgotten', () => agent.originCount() === 0);
});

test('the deadline covers the wait for the status line', async () => {
  const receiver = await startWebhookReceiver({ respond: answers.hang });
  const agent = startAgent();
  const skip = skippableTimers();
  const result = agent.post(attemptTo(receiver.url, { timeoutMs: 40_000 }));
  await receiver.waitFor(1);
  skip(10_000);
  expect(await isPending(result)).toBe(true);
  skip(30_000);
  expect(await result).toMatchObject(timedOut);
  await waitFor('the connection to close', () => receiver.connections.open === 0);
  await waitFor('the origin to be forgotten', () => agent.originCount() === 0);
});

test('headers that drip for ever are no answer', async () => {
  const { port, sockets } = await startServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x: y\r\n'), 20);
    socket.once('close', () => clearInterval(timer));
  });
  const agent = startAgent();
  expect(await agent.post(attemptTo(`http://127.0.0.1:${port}/`, { timeoutMs }))).toMatchObject(timedOut);
  await waitFor('the connection to close', () => sockets.size === 0);
});

test('attempts that wait for a connection to their origin have the same deadline, and are never sent late', async () => {
  const held = Promise.withResolvers<void>();
  const receiver = await startWebhookReceiver({ respond: () => held.promise.then(() => ({})) });
  const agent = startAgent({ connectionsPerOrigin: 1 });
  const first = agent.post(attemptTo(receiver.url, { webhookId: 'first' }));
  await receiver.waitFor(1);
  const waiting = Array.from({ length: 10 }, () => agent.post(attemptTo(receiver.url, { timeoutMs })));
  for (const result of await Promise.all(waiting)) expect(result).toMatchObject(timedOut);
  held.resolve();
  expect(await first).toMatchObject({ error: null });
  expect(await agent.post(attemptTo(receiver.url, { webhookId: 'last' }))).toMatchObject({ error: null });
  expect(receiver.requests.map((request) => request.headers['webhook-id'])).toEqual(['first', 'last']);
  expect(receiver.connections.opened).toBe(1);
});

test('an answer that came in time counts, although this process slept through the deadline', async () => {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { createServer } = require('node:net');
     const { parentPort, workerData } = require('node:worker_threads');
     const server = createServer((socket) => socket.once('data', () => {
       parentPort.postMessage('asked');
       setTimeout(() => socket.end('HTTP/1.1 204 No Content\\r\\n\\r\\n', () => {
         Atomics.store(workerData, 0, 1);
         Atomics.notify(workerData, 0);
       }), 50);
     }));
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true, workerData: answered },
  );
  atEnd(() => worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  const agent = startAgent();
  const deadlineMs = 2_000;
  for (let isInTime = false; !isInTime; ) {
    Atomics.store(answered, 0, 0);
    const startedAt = performance.now();
    const asked = once(worker, 'message');
    const result = agent.post(attemptTo(`http://127.0.0.1:${port}/`, { timeoutMs: deadlineMs }));
    await asked;
    Atomics.wait(answered, 0, 0);
    isInTime = performance.now() < startedAt + deadlineMs;
    // This thread sleeps, and cannot see the answer meanwhile.
    Atomics.wait(answered, 0, 1, startedAt + deadlineMs + 100 - performance.now());
    // On a busy machine the endpoint itself may be late.
    if (isInTime) expect(await result).toMatchObject({ responseStatus: 204, error: null });
    else await result;
  }
});

async function startServer(
  onConnection: (socket: Socket) => void,
): Promise<{ port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.on('data', () => {});
    onConnection(socket);
  });
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as { port: number }).port, sockets };
}

/** Starts a server that accepts nothing: once its backlog is full, the system lets every further connection hang. */
async function startDeafServer(): Promise<number> {
  const worker = new Worker(
    `const { createServer } = require('node:net');
     const { parentPort } = require('node:worker_threads');
     const server = createServer();
     server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
     });`,
    { eval: true },
  );
  atEnd(() => worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  for (let isFull = false; !isFull; ) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    atEnd(() => socket.destroy());
    const limit = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => limit.resolve(true), 1_000);
    isFull = await Promise.race([once(socket, 'connect').then(() => false), limit.promise]);
    clearTimeout(timer);
  }
  return port;
}
