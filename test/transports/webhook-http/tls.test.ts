import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { atEnd } from '../../support/runner/at-end.ts';
import { selfSignedCertificate } from '../../support/servers/certificate.ts';
import { answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { skippableTimers } from '../../support/time/skip-time.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { attemptTo, startAgent } from './attempt-to.ts';

const tls = selfSignedCertificate(['hooks.example']);
const resolve = async () => ['127.0.0.1'];
const noTls = { responseStatus: null, responseBody: null, error: 'tls' };

test('a delivery over https is checked against the name of the endpoint', async () => {
  const receiver = await startWebhookReceiver({ tls, respond: { body: 'ok' } });
  const agent = startAgent({ resolve, ca: tls.cert });
  const good = attemptTo(`https://hooks.example:${receiver.port}/a`);
  expect(await agent.post(good)).toMatchObject({ error: null, responseBody: 'ok' });
  expect(receiver.requests[0]?.headers.host).toBe(`hooks.example:${receiver.port}`);
  expect(await agent.post(attemptTo(`https://hooks.example.:${receiver.port}/a`))).toMatchObject({
    error: null,
  });
  expect(await agent.post(attemptTo(`https://other.example:${receiver.port}/a`))).toMatchObject(noTls);
  expect(await agent.post(attemptTo(`https://127.0.0.1:${receiver.port}/a`))).toMatchObject(noTls);
  expect(receiver.requests).toHaveLength(2);
});

test('a certificate that nobody vouches for is refused', async () => {
  const receiver = await startWebhookReceiver({ tls });
  const agent = startAgent({ resolve });
  expect(await agent.post(attemptTo(`https://hooks.example:${receiver.port}/`))).toMatchObject(noTls);
  expect(receiver.requests).toEqual([]);
  await waitFor('the connection to close', () => receiver.connections.open === 0);
  await waitFor('the origin to be forgotten', () => agent.originCount() === 0);
});

test('an expired certificate is refused', async () => {
  const expired = selfSignedCertificate(['hooks.example'], new Date('2021-01-01'));
  const receiver = await startWebhookReceiver({ tls: expired });
  const agent = startAgent({ resolve, ca: expired.cert });
  expect(await agent.post(attemptTo(`https://hooks.example:${receiver.port}/`))).toMatchObject(noTls);
  expect(receiver.requests).toEqual([]);
});

test('an endpoint without TLS is a failure of TLS', async () => {
  const receiver = await startWebhookReceiver();
  const agent = startAgent({ resolve, ca: tls.cert });
  expect(await agent.post(attemptTo(`https://hooks.example:${receiver.port}/`))).toMatchObject(noTls);
});

test('a connection that breaks in the handshake is a failure of TLS', async () => {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.resetAndDestroy());
  });
  atEnd(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  expect(await startAgent({ resolve }).post(attemptTo(`https://hooks.example:${port}/`))).toMatchObject(
    noTls,
  );
});

test('a connection that breaks after the handshake is a failed connection', async () => {
  const receiver = await startWebhookReceiver({ tls, respond: answers.reset });
  const agent = startAgent({ resolve, ca: tls.cert });
  const result = await agent.post(attemptTo(`https://hooks.example:${receiver.port}/`));
  expect(result).toMatchObject({ responseStatus: null, error: 'connection' });
});

test('connections over https are kept, bodies are cut off, and sessions are taken up again', async () => {
  const receiver = await startWebhookReceiver({ tls });
  const agent = startAgent({ resolve, ca: tls.cert, connectionsPerOrigin: 1 });
  const attempt = attemptTo(`https://hooks.example:${receiver.port}/`);
  for (let count = 0; count < 20; count += 1)
    expect(await agent.post(attempt)).toMatchObject({ error: null });
  expect(receiver.connections).toMatchObject({ opened: 1, resumed: 0 });
  receiver.respondWith(answers.endlessBody);
  expect(await agent.post(attempt)).toMatchObject({ error: null });
  await waitFor('the connection to close', () => receiver.connections.open === 0);
  receiver.respondWith(answers.hang);
  const skip = skippableTimers();
  const requests = receiver.requests.length;
  const hanging = agent.post({ ...attempt, timeoutMs: 40_000 });
  await receiver.waitFor(requests + 1);
  skip(40_000);
  expect(await hanging).toMatchObject({ error: 'timeout' });
  expect(receiver.connections).toMatchObject({ opened: 2, resumed: 1 });
  await waitFor('the connection to close', () => receiver.connections.open === 0);
  await waitFor('the origin to be forgotten', () => agent.originCount() === 0);
});
