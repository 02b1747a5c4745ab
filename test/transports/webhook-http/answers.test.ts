import { expect, test } from 'vitest';
import { retryAfterSeconds } from '../../../shared/transports/webhook-http.ts';
import { answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { isPending, skippableTimers } from '../../support/time/skip-time.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { attemptTo, startAgent } from './attempt-to.ts';

test.each([200, 201, 202, 204, 206, 299])('a %i accepts the delivery', async (status) => {
  const receiver = await startWebhookReceiver({ respond: { status } });
  expect(await startAgent().post(attemptTo(receiver.url))).toMatchObject({
    responseStatus: status,
    error: null,
  });
});

test.each([300, 302, 304, 400, 401, 404, 410, 429, 500, 503, 599])('a %i does not', async (status) => {
  const receiver = await startWebhookReceiver({ respond: { status } });
  expect(await startAgent().post(attemptTo(receiver.url))).toMatchObject({
    responseStatus: status,
    error: 'http_status',
  });
});

// Shows A44
test.each([301, 302, 303, 307, 308])('a redirect by %i is not followed', async (status) => {
  const other = await startWebhookReceiver();
  const receiver = await startWebhookReceiver({
    respond: { ...answers.redirectTo(`${other.url}/`), status },
  });
  const result = await startAgent().post(attemptTo(receiver.url));
  expect(result).toMatchObject({ responseStatus: status, error: 'http_status' });
  expect(receiver.requests).toHaveLength(1);
  expect(other.connections.opened).toBe(0);
});

test('Retry-After is handed on as it came', async () => {
  const receiver = await startWebhookReceiver({ respond: answers.tooManyRequests('120') });
  const agent = startAgent();
  expect(await agent.post(attemptTo(receiver.url))).toMatchObject({ responseStatus: 429, retryAfter: '120' });
  receiver.respondWith(answers.tooManyRequests());
  expect(await agent.post(attemptTo(receiver.url))).toMatchObject({ responseStatus: 429, retryAfter: null });
});

test.each([
  ['no body', '', null],
  ['text', 'thanks', 'thanks'],
  ['UTF-8', 'größe 😀', 'größe 😀'],
  ['the first 1,024 bytes', 'a'.repeat(3000), 'a'.repeat(1024)],
  ['1,024 bytes', 'a'.repeat(1024), 'a'.repeat(1024)],
  ['a character halved by the cut', `${'a'.repeat(1023)}😀`, 'a'.repeat(1023)],
  ['invalid UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'a\ufffd\ufffdb'],
  ['NULs', 'a\0b\0', 'ab'],
  ['nothing but NULs', '\0\0', null],
])('the answer is kept as text: %s', async (_name, body, kept) => {
  const receiver = await startWebhookReceiver({ respond: { body } });
  expect((await startAgent().post(attemptTo(receiver.url))).responseBody).toBe(kept);
});

test('a 2xx with an endless body accepts the delivery, and its connection is not kept', async () => {
  const receiver = await startWebhookReceiver({ respond: answers.endlessBody });
  const agent = startAgent();
  const result = await agent.post(attemptTo(receiver.url));
  expect(result).toMatchObject({ responseStatus: 200, error: null });
  expect(result.responseBody).toMatch(/^x{1024}$/);
  await waitFor('the connection to close', () => receiver.connections.open === 0);
  receiver.respondWith({ body: 'next' });
  expect(await agent.post(attemptTo(receiver.url))).toMatchObject({ error: null, responseBody: 'next' });
});

test('a 2xx with a dripping body accepts the delivery at the deadline, and its connection is not kept', async () => {
  const receiver = await startWebhookReceiver({ respond: answers.drippingBody });
  const agent = startAgent();
  const skip = skippableTimers();
  const posted = agent.post(attemptTo(receiver.url, { timeoutMs: 40_000 }));
  await waitFor('three drips have left', () => receiver.drips() >= 3);
  expect(await isPending(posted)).toBe(true);
  skip(40_000);
  const result = await posted;
  expect(result).toMatchObject({ responseStatus: 200, error: null });
  expect(result.responseBody).toMatch(/^x+$/);
  await waitFor('the connection to close', () => receiver.connections.open === 0);
  await waitFor('the origin to be forgotten', () => agent.originCount() === 0);
});

test('a 2xx with a body cut short accepts the delivery', async () => {
  const receiver = await startWebhookReceiver({ respond: { ...answers.cutBody, body: 'half' } });
  expect(await startAgent().post(attemptTo(receiver.url))).toMatchObject({
    responseStatus: 200,
    responseBody: 'half',
    error: null,
  });
});

test('a failure stays one however long its body is', async () => {
  const receiver = await startWebhookReceiver({ respond: { ...answers.endlessBody, status: 500 } });
  expect(await startAgent().post(attemptTo(receiver.url))).toMatchObject({
    responseStatus: 500,
    error: 'http_status',
  });
});

const now = new Date('2026-11-20T10:00:00.500Z');

test.each([
  ['0', 1],
  ['1', 1],
  [' 30 ', 30],
  ['120.5', 121],
  ['86400', 86_400],
  ['86401', 86_400],
  ['9'.repeat(400), 86_400],
  ['Fri, 20 Nov 2026 10:05:00 GMT', 300],
  ['Friday, 20-Nov-26 10:05:00 GMT', 300],
  ['Fri Nov 20 10:05:00 2026', 300],
  ['Sun Nov  1 10:05:00 2026', 1],
  ['Fri, 20 Nov 2026 09:00:00 GMT', 1],
  ['Fri, 20 Nov 2099 10:00:00 GMT', 86_400],
  [null, 60],
  ['', 60],
  ['-5', 60],
  ['1e3', 60],
  ['0x10', 60],
  ['5, 10', 60],
  ['soon', 60],
  ['Fri, 99 Xyz 2026 10:05:00 GMT', 60],
  ['2026-11-20T10:05:00Z', 60],
])('Retry-After %j means a pause of %i seconds', (header, seconds) => {
  expect(retryAfterSeconds(header, now)).toBe(seconds);
});
