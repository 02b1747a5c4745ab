import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { closeWebhookConnections, postWebhook } from '../../../shared/transports/webhook-http.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { anyId, attemptTo, startAgent } from './attempt-to.ts';

test('attempts that follow each other share a connection', async () => {
  const receiver = await startWebhookReceiver({ respond: { body: 'ok' } });
  const agent = startAgent();
  for (let count = 0; count < 50; count += 1)
    expect(await agent.post(attemptTo(receiver.url))).toMatchObject({ error: null });
  // A connection is free again a moment after its answer, so two connections may take turns.
  expect(receiver.connections.opened).toBeLessThanOrEqual(2);
});

test('an origin gets no more connections than agreed', async () => {
  const receiver = await startWebhookReceiver({ respond: { delayMs: 20 } });
  const agent = startAgent({ connectionsPerOrigin: 3 });
  const results = await Promise.all(Array.from({ length: 30 }, () => agent.post(attemptTo(receiver.url))));
  expect(results.every((result) => result.error === null)).toBe(true);
  expect(receiver.connections.opened).toBe(3);
});

// Shows A43
test('a connection is renewed now and then, so that a busy webhook follows its name', async () => {
  const receiver = await startWebhookReceiver();
  const agent = startAgent({ connectionsPerOrigin: 1 });
  for (let count = 0; count < 1001; count += 1)
    expect(await agent.post(attemptTo(receiver.url))).toMatchObject({ error: null });
  expect(receiver.connections.opened).toBe(2);
});

test('500 attempts that hang do not slow down others', async () => {
  const hanging = await startWebhookReceiver({ respond: answers.hang });
  const healthy = await startWebhookReceiver();
  const agent = startAgent();
  let given = 0;
  const stuck = Array.from({ length: 500 }, async () => {
    const result = await agent.post(attemptTo(hanging.url, { timeoutMs: 120_000 }));
    given += 1;
    return result;
  });
  await hanging.waitFor(400);
  for (let count = 0; count < 300; count += 1)
    expect(await agent.post(attemptTo(healthy.url))).toMatchObject({ error: null });
  expect(given).toBe(0);
  expect(healthy.connections.opened).toBeLessThanOrEqual(2);
  hanging.respondWith({});
  await hanging.close();
  expect(new Set((await Promise.all(stuck)).map((result) => result.error))).toContain('connection');
});

test.each([
  ['ends', (socket: Socket) => socket.end()],
  ['is reset', (socket: Socket) => socket.resetAndDestroy()],
])(
  'when a kept connection %s instead of answering, the same request goes over a new one',
  async (_how, fail) => {
    const server = await startKeepAliveServer((socket, count) => (count > 1 ? fail(socket) : undefined));
    const agent = startAgent({ connectionsPerOrigin: 1 });
    expect(await agent.post(attemptTo(server.url))).toMatchObject({ error: null });
    expect(await agent.post(attemptTo(server.url, { webhookId: 'delivery_2' }))).toMatchObject({
      error: null,
    });
    expect(server.connections).toBe(2);
    const [first, lost, again] = server.requests;
    expect(server.requests).toHaveLength(3);
    expect(first).toContain(anyId);
    expect(lost).toContain('delivery_2');
    // The signature and the bytes are the same; only the connection of the repeat is not kept alive.
    expect(again?.replace('connection: close', 'connection: keep-alive')).toBe(lost);
  },
);

test('when a new connection ends instead of answering, the attempt has failed and is not sent again', async () => {
  const server = await startKeepAliveServer((socket) => socket.end());
  expect(await startAgent().post(attemptTo(server.url))).toMatchObject({
    responseStatus: null,
    error: 'connection',
  });
  expect(server.requests).toHaveLength(1);
});

test('an endpoint that never answers a second time gets one request more, not a stream of them', async () => {
  let answered = 0;
  const server = await startKeepAliveServer((socket) => {
    answered += 1;
    return answered > 1 ? socket.end() : undefined;
  });
  const agent = startAgent({ connectionsPerOrigin: 1 });
  expect(await agent.post(attemptTo(server.url))).toMatchObject({ error: null });
  expect(await agent.post(attemptTo(server.url))).toMatchObject({ error: 'connection' });
  expect(server.requests).toHaveLength(3);
});

test('a connection that the endpoint closed while it was idle is not used', async () => {
  const sockets: Socket[] = [];
  const server = await startKeepAliveServer((socket) => void sockets.push(socket));
  const agent = startAgent();
  for (let count = 1; count <= 5; count += 1) {
    expect(await agent.post(attemptTo(server.url))).toMatchObject({ error: null });
    const closed = once(sockets.at(-1)!, 'close');
    sockets.at(-1)?.end();
    await closed;
  }
  expect(server.requests).toHaveLength(5);
  expect(server.connections).toBe(5);
});

test('an endpoint that breaks every connection at once fails by its connection, not by its address', async () => {
  const server = createServer((socket) => socket.resetAndDestroy());
  atEnd(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const agent = startAgent();
  const results = await Promise.all(
    Array.from({ length: 100 }, () => agent.post(attemptTo(`http://127.0.0.1:${port}/`))),
  );
  expect(new Set(results.map((result) => result.error))).toEqual(new Set(['connection']));
});

test('a refused or broken connection is a failure, and leaves nothing behind', async () => {
  const receiver = await startWebhookReceiver({ respond: answers.reset });
  const agent = startAgent();
  expect(await agent.post(attemptTo(receiver.url))).toMatchObject({
    responseStatus: null,
    responseBody: null,
    error: 'connection',
  });
  await receiver.close();
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      agent.post(attemptTo(`http://127.${index + 1}.0.1:${receiver.port}/`)),
    ),
  );
  for (const result of results) expect(result).toMatchObject({ responseStatus: null, error: 'connection' });
  await waitFor('the origins to be forgotten', () => agent.originCount() === 0);
});

test('the connections of 2,000 origins are kept, and those of more are used once', async () => {
  const receiver = await startWebhookReceiver({ keepAliveMs: 60_000 });
  const agent = startAgent({ resolve: async () => ['127.0.0.1'] });
  for (let index = 0; index < 2_050; index += 50) {
    const batch = Array.from({ length: 50 }, (_, offset) =>
      agent.post(attemptTo(`http://host-${index + offset}.example:${receiver.port}/`)),
    );
    for (const result of await Promise.all(batch)) expect(result).toMatchObject({ error: null });
  }
  await waitFor('the connections used once to close', () => agent.originCount() === 2_000);
  const last = receiver.requests.filter((request) => request.headers.connection === 'close');
  expect(last).toHaveLength(50);
  await agent.close();
  await waitFor('all connections to close', () => receiver.connections.open === 0);
});

test('closing waits for the attempts in flight, and a later attempt opens connections anew', async () => {
  const receiver = await startWebhookReceiver({ respond: { delayMs: 200 } });
  const last = postWebhook(attemptTo(receiver.url));
  await receiver.waitFor(1);
  await closeWebhookConnections();
  expect(await last).toMatchObject({ error: null });
  await waitFor('the connection to close', () => receiver.connections.open === 0);
  expect(await postWebhook(attemptTo(receiver.url))).toMatchObject({ error: null });
  await closeWebhookConnections();
});

test('a fault of our own is thrown, so that it does not count against the endpoint', async () => {
  const receiver = await startWebhookReceiver();
  const agent = startAgent({ localAddress: '192.0.2.1' });
  await expect(agent.post(attemptTo(receiver.url))).rejects.toThrow();
  await expect(agent.post(attemptTo(receiver.url, { webhookId: 'a\nb' }))).rejects.toThrow();
  expect(receiver.connections.opened).toBe(0);
});

/** Answers 204 to each request, unless `onRequest` ends the connection; `count` is the request's number on it. */
async function startKeepAliveServer(onRequest: (socket: Socket, count: number) => unknown) {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const state = { connections: 0 };
  const server = createServer((socket) => {
    state.connections += 1;
    sockets.add(socket);
    let count = 0;
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      const start = text.indexOf('\r\n\r\n') + 4;
      if (start < 4 || text.length < start + length) return;
      requests.push(text);
      text = '';
      count += 1;
      onRequest(socket, count);
      if (socket.writable) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/`,
    requests,
    get connections() {
      return state.connections;
    },
  };
}
