import { getEventListeners } from 'node:events';
import { createClient, Refusal } from 'messaging-service/client';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/servers/webhook-receiver.ts';
import { waitFor } from '../support/time/wait-for.ts';

/** A service that gives the answers of the test, one after the other. */
let service: WebhookReceiver;
beforeEach(async () => {
  service = await startWebhookReceiver();
});

const json = (status: number, body: object, headers = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});
const problem = (status: number, code: string, more = {}, headers = {}) =>
  json(status, { type: `https://a.example/problems/${code}`, status, detail: 'No', ...more }, headers);
const answerWith = (...answers: Answer[]) =>
  service.respondWith((_request, index) => answers[Math.min(index, answers.length - 1)]!);
const client = (settings = {}) => createClient({ baseUrl: `${service.url}/`, apiKey: 'msg_1', ...settings });
const email = { sender: 'a@b.example', recipient: 'c@d.example', subject: 'Hi', content: { text: 'Hi' } };

test('a request is sent until it is done, and each time it is the same one', async () => {
  answerWith(
    { fault: 'reset' },
    problem(503, 'service_unavailable', {}, { 'retry-after': '0' }),
    problem(409, 'idempotency_in_progress', {}, { 'retry-after': '0' }),
    json(201, { id: 'email_1' }),
  );
  expect(await client().post('/v2/email', { body: email })).toEqual({ id: 'email_1' });
  expect(service.requests).toHaveLength(4);
  expect(new Set(service.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  for (const { method, url, headers, body } of service.requests) {
    expect([method, url, headers['authorization']]).toEqual(['POST', '/v2/email', 'Bearer msg_1']);
    expect(headers['idempotency-key']).toMatch(/^[\w-]{36}$/);
    expect(JSON.parse(body.toString())).toEqual(email);
  }
});

test('a form has the same bytes in each try', async () => {
  answerWith(
    problem(503, 'service_unavailable', {}, { 'retry-after': '0' }),
    json(201, { id: 'batch_1', errors: [], errorCount: 0 }),
  );
  const body = new FormData();
  body.append('settings', new Blob(['{"content": "Hi"}'], { type: 'application/json' }));
  body.append('file', new Blob(['Mobile\n07700 900125\n'], { type: 'text/csv' }), 'customers.csv');
  expect(await client().post('/v2/sms/batches/import', { body })).toMatchObject({ id: 'batch_1' });
  const [first, second] = service.requests.map((request) => [
    request.headers['content-type'],
    request.body.toString(),
  ]);
  expect(first).toEqual([
    expect.stringMatching(/^multipart\/form-data; boundary=/),
    expect.stringContaining('07700 900125'),
  ]);
  expect(second).toEqual(first);
});

describe('a DELETE whose first answer was lost', () => {
  const notCancellable = problem(409, 'not_cancellable');
  test.each(['/v2/email/{id}', '/v2/sms/{id}', '/v2/sms/batches/{id}'] as const)('%s', async (operation) => {
    const path = { id: 'id_1' };
    answerWith({ fault: 'reset' }, notCancellable, json(200, { id: 'id_1', status: 'cancelled' }));
    expect(await client().delete(operation, { path })).toMatchObject({ status: 'cancelled' });
    expect(service.requests.map(({ method }) => method)).toEqual(['DELETE', 'DELETE', 'GET']);
    expect(service.requests[2]!.url).toBe(operation.replace('{id}', 'id_1'));

    service.requests.length = 0;
    answerWith(problem(502, 'internal_error'), notCancellable, json(200, { status: 'sent' }));
    await expect(client().delete(operation, { path })).rejects.toMatchObject({ code: 'not_cancellable' });

    service.requests.length = 0;
    answerWith({ fault: 'reset' }, notCancellable, problem(403, 'forbidden'));
    await expect(client().delete(operation, { path })).rejects.toMatchObject({ code: 'not_cancellable' });

    service.requests.length = 0;
    answerWith({ fault: 'reset' }, problem(404, 'not_found'));
    await expect(client().delete(operation, { path })).rejects.toMatchObject({ status: 404 });
  });

  test('of what is gone then', async () => {
    answerWith({ fault: 'reset' }, problem(404, 'not_found'));
    expect(await client().delete('/v2/contacts/{id}', { path: { id: 'contact_1' } })).toBeUndefined();
    const contacts = client().delete('/v2/contact-lists/{id}/contacts', {
      path: { id: 'list_1' },
      body: { contactIds: ['contact_1'] },
    });
    await expect(contacts).rejects.toMatchObject({ status: 404 });
  });

  test('it is refused where every try had its answer', async () => {
    answerWith(problem(429, 'rate_limited', {}, { 'retry-after': '0' }), problem(404, 'not_found'));
    await expect(client().delete('/v2/contacts/{id}', { path: { id: 'contact_1' } })).rejects.toMatchObject({
      status: 404,
    });
    service.requests.length = 0;
    answerWith(notCancellable);
    await expect(client().delete('/v2/email/{id}', { path: { id: 'email_1' } })).rejects.toMatchObject({
      code: 'not_cancellable',
    });
    expect(service.requests).toHaveLength(1);
  });
});

test('two requests are two, unless the caller says that they are one', async () => {
  answerWith(json(201, { id: 'email_1' }));
  const keyOf = async (more = {}) => {
    await client().post('/v2/email', { body: email, ...more });
    return service.requests.at(-1)!.headers['idempotency-key'];
  };
  expect(await keyOf()).not.toBe(await keyOf());
  expect(await keyOf({ idempotencyKey: 'order-1' })).toBe('order-1');
});

test('a refusal is thrown as it was told, and not tried again', async () => {
  answerWith(
    problem(400, 'validation_failed', { errors: { subject: ['must be a string'] }, requestId: 'r1' }),
  );
  const thrown = await client()
    .post('/v2/email', { body: email })
    .catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(Refusal);
  expect(thrown).toMatchObject({
    status: 400,
    code: 'validation_failed',
    errors: { subject: ['must be a string'] },
    requestId: 'r1',
    message: '400 validation_failed: subject must be a string',
  });
  expect(service.requests).toHaveLength(1);
});

test('a page of a proxy is a refusal too', async () => {
  answerWith({ status: 403, headers: { 'request-id': 'p1' }, body: '<h1>Forbidden</h1>' });
  await expect(client().get('/v2/workspace')).rejects.toMatchObject({
    status: 403,
    code: null,
    requestId: 'p1',
    message: expect.stringContaining('<h1>Forbidden</h1>'),
  });
});

test('patience has an end: of tries, of a wait that the service asks for, of one try, of the caller', async () => {
  answerWith(problem(503, 'service_unavailable', {}, { 'retry-after': '0' }));
  await expect(client({ tries: 2 }).get('/v2/workspace')).rejects.toThrow(/^503 service_unavailable/);
  expect(service.requests).toHaveLength(2);

  answerWith(problem(429, 'rate_limited', {}, { 'retry-after': '3600' }));
  await expect(client().get('/v2/workspace')).rejects.toMatchObject({ retryAfterSeconds: 3600 });
  expect(service.requests).toHaveLength(3);

  answerWith({ fault: 'hang' });
  await expect(client({ tries: 1, timeoutSeconds: 0.2 }).get('/v2/workspace')).rejects.toThrow(
    /^GET http:\S+\/v2\/workspace got no answer: .*timeout/,
  );
  expect(service.requests).toHaveLength(4);

  const stopping = new AbortController();
  const waiting = client().get('/v2/workspace', { signal: stopping.signal });
  await service.waitFor(5);
  stopping.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(service.requests).toHaveLength(5);
});

test.each<[during: string, answer: Answer]>([
  ['the pause', json(200, { data: [], nextCursor: 'next', hasMore: false })],
  ['a request', { fault: 'hang' }],
  ['the wait for another try', problem(503, 'service_unavailable', {}, { 'retry-after': '60' })],
])('a signal during %s ends what follows the feed, without an error', async (during, answer) => {
  answerWith(answer);
  const stopping = new AbortController();
  const pages: unknown[] = [];
  const following = (async () => {
    for await (const page of client().follow({}, { pollSeconds: 3_600, signal: stopping.signal }))
      pages.push(page);
  })();
  await service.waitFor(1);
  // A pause listens to the signal itself, a request does not.
  if (during !== 'a request')
    await waitFor('the pause to begin', () => getEventListeners(stopping.signal, 'abort').length > 0);
  stopping.abort(new Error('enough'));
  await expect(following).resolves.toBeUndefined();
  expect([pages, service.requests.length]).toEqual([[], 1]);
});

test('what ends a feed other than its signal is thrown', async () => {
  answerWith(problem(410, 'cursor_expired'));
  const { signal } = new AbortController();
  await expect(client().follow({ cursor: 'old' }, { signal }).next()).rejects.toMatchObject({
    code: 'cursor_expired',
  });
});

test('parameters go into the path and the query as they are written there', async () => {
  answerWith(json(200, { data: [], nextCursor: null }));
  const api = client({ serviceVersion: '2026-11-01' });
  await api.get('/v2/email/includes/{name}', { path: { name: 'a/b ?' } });
  await api.get('/v2/events', { query: { types: ['email.*', 'sms.sent'], limit: 5 } });
  expect(service.requests.map(({ url }) => url)).toEqual([
    '/v2/email/includes/a%2Fb%20%3F',
    '/v2/events?types=email.*&types=sms.sent&limit=5',
  ]);
  expect(service.requests[0]!.headers).toMatchObject({ 'service-version': '2026-11-01' });
  expect(service.requests[0]!.headers).not.toHaveProperty('idempotency-key');
  // With an empty id the path would be that of the listing.
  await expect(api.get('/v2/email/{id}', { path: { id: '' } })).rejects.toThrow('needs path.id');
});

test.each(['.', '..'])('a parameter %j does not lead to another operation', async (id) => {
  answerWith(json(200, { data: [], nextCursor: null }));
  await expect(client().get('/v2/email/{id}/events', { path: { id } })).rejects.toThrow(TypeError);
  expect(service.requests).toHaveLength(0);
});
