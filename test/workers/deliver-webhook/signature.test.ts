import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { httpbis } from 'http-message-signatures';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { seal } from '../../../shared/common/secrets.ts';
import { redeliver } from '../../../shared/domain/webhooks/deliveries/again.ts';
import { attempt } from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import { callerOf, eventsOf } from '../../support/data/accepted-email.ts';
import { alterWebhook, dueDelivery } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { type ReceivedRequest, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { advanceClockTo } from '../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

const covered = ['@method', '@authority', '@path', '@query', 'content-digest', 'content-type', 'webhook-id'];

/** Verifies a request as a customer does, with a library that shares no code with the one that signs. */
async function isGenuine(request: ReceivedRequest, url: string, secret: string): Promise<boolean> {
  const result = await httpbis.verifyMessage(
    {
      keyLookup: async () => ({
        id: '1',
        algs: ['hmac-sha256'],
        verify: async (data, signature) =>
          timingSafeEqual(createHmac('sha256', secret).update(data).digest(), signature),
      }),
      // The platform's clock may have been moved on.
      notAfter: new Date(now().getTime() + 1000),
      tolerance: 400 * 86_400,
      requiredFields: covered,
      requiredParams: ['created', 'expires', 'keyid', 'alg'],
      all: true,
    },
    { method: request.method, url, headers: request.headers },
  );
  return result === true;
}

const digestOf = (body: Buffer) => `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;

test.each(['', '/', '/hook', '/hook/a%20b?token=x%26&y=1', '/?'])(
  'a delivery to …%s is a signed POST of the event’s envelope',
  async (path) => {
    const receiver = await startWebhookReceiver();
    const url = receiver.url + path;
    const { id, webhook, emailId } = await dueDelivery(own, url);
    expect(await attempt(id)).toBe('done');
    const [request] = receiver.requests;
    expect(request!.method).toBe('POST');
    expect(request!.headers).toMatchObject({
      host: new URL(url).host,
      'content-type': 'application/json',
      'webhook-id': id,
      'user-agent': expect.stringMatching(/^[\w-]+\/\d+\.\d+\.\d+$/),
      'content-digest': digestOf(request!.body),
    });
    expect(await isGenuine(request!, url, webhook.secret!)).toBe(true);
    const [event] = await eventsOf(own, emailId);
    expect(JSON.parse(request!.body.toString())).toStrictEqual({
      id: event!.id,
      type: 'email.queued',
      occurredAt: event!.occurredAt.toISOString(),
      apiVersion: '2026-11-01',
      workspaceId: own.workspaceId,
      data: event!.data,
    });
  },
);

test('the signature says when it was made, that it ends in 5 minutes, with which key and how', async () => {
  const receiver = await startWebhookReceiver();
  const { id } = await dueDelivery(own, receiver.url);
  const before = Math.floor(now().getTime() / 1000) - 1;
  await attempt(id);
  const after = Math.ceil(now().getTime() / 1000) + 1;
  const input = receiver.requests[0]!.headers['signature-input']!;
  const names = covered.map((name) => `"${name}"`).join(' ');
  const [, created, expires] = /^sig=\(.*\);created=(\d+);expires=(\d+);keyid="1";alg="hmac-sha256"$/.exec(
    input,
  )!;
  expect(input.startsWith(`sig=(${names});`)).toBe(true);
  expect(Number(expires ?? 0)).toBe(Number(created ?? 0) + 300);
  expect(Number(created)).toBeGreaterThanOrEqual(before);
  expect(Number(created)).toBeLessThanOrEqual(after);
  expect(receiver.requests[0]!.headers['signature']).toMatch(/^sig=:[A-Za-z0-9+/]{43}=:$/);
});

test('a version that another secret had before, as after a restore from a backup, signs with its own', async () => {
  const receiver = await startWebhookReceiver();
  const { id, webhook } = await dueDelivery(own, receiver.url);
  await attempt(id);
  const secret = `whsec_${'a'.repeat(43)}`;
  await alterWebhook(webhook.id, { secret: seal(webhook.id, secret) });
  await redeliver(callerOf(own), webhook.id, id);
  await attempt(id);
  const [before, after] = receiver.requests;
  expect(await isGenuine(before!, `${receiver.url}/`, webhook.secret!)).toBe(true);
  expect(await isGenuine(after!, `${receiver.url}/`, secret)).toBe(true);
});

test('what is changed on the way does not verify', async () => {
  const receiver = await startWebhookReceiver();
  const url = `${receiver.url}/hook?a=1`;
  const { id, webhook } = await dueDelivery(own, url);
  await attempt(id);
  const request = receiver.requests[0]!;
  const secret = webhook.secret!;
  const header = (name: string, value: string) => ({
    ...request,
    headers: { ...request.headers, [name]: value },
  });
  expect(await isGenuine(request, url, secret)).toBe(true);
  const forged: [ReceivedRequest, string, string][] = [
    [request, url, `${secret}x`],
    [request, url, secret.slice('whsec_'.length)],
    [{ ...request, method: 'PUT' }, url, secret],
    [request, url.replace('127.0.0.1', '127.0.0.2'), secret],
    [request, url.replace('/hook', '/hooks'), secret],
    [request, url.replace('a=1', 'a=2'), secret],
    [header('content-digest', digestOf(Buffer.from('other'))), url, secret],
    [header('content-type', 'text/plain'), url, secret],
    [
      header(
        'webhook-id',
        id.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      ),
      url,
      secret,
    ],
  ];
  for (const [given, at, key] of forged)
    expect(await isGenuine(given, at, key).catch(() => false)).toBe(false);
});

// Shows F31
test('every attempt has the same Webhook-Id and the same bytes, and is signed anew', async () => {
  const receiver = await startWebhookReceiver({
    respond: (_request, index) => ({ status: index < 2 ? 500 : 200 }),
  });
  const { id, webhook, read } = await dueDelivery(own, receiver.url);
  for (let count = 0; count < 3; count += 1) {
    await attempt(id);
    const { dueAt } = await read();
    if (dueAt) await advanceClockTo(dueAt);
  }
  expect((await read()).status).toBe('delivered');
  const [first, ...later] = receiver.requests;
  expect(later).toHaveLength(2);
  const created = new Set<string>();
  for (const request of receiver.requests) {
    expect(request.headers['webhook-id']).toBe(id);
    expect(request.body.equals(first!.body)).toBe(true);
    expect(await isGenuine(request, receiver.url, webhook.secret!)).toBe(true);
    created.add(/created=(\d+)/.exec(request.headers['signature-input']!)![1]!);
  }
  expect(created.size).toBe(3);
});

test('text of every alphabet arrives as the bytes that were signed', async () => {
  const receiver = await startWebhookReceiver();
  const text = 'Ünï – три 🙂 \u2028 " \\ \u0007';
  const { id } = await dueDelivery(own, receiver.url, { content: { text } });
  await attempt(id);
  const { body, headers } = receiver.requests[0]!;
  expect(JSON.parse(body.toString()).data.content.text).toBe(text);
  expect(headers['content-length']).toBe(String(body.length));
  expect(headers['content-digest']).toBe(digestOf(body));
});
