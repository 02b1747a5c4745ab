import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { eventTypes } from '../../../shared/schemas/events.ts';
import { scopes } from '../../../shared/schemas/scopes.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { newUrl } from '../../support/servers/webhook-url.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const newWebhook = (changes: Record<string, unknown> = {}) => ({
  url: newUrl(),
  events: ['email.sent'],
  ...changes,
});
const create = (changes?: Record<string, unknown>, key = own.key) =>
  api.request('POST', '/v2/webhooks', { key, body: newWebhook(changes) });
const read = (path = '', key = own.key) => api.request('GET', `/v2/webhooks${path}`, { key });

test('a webhook is answered with 201, its whole record, its address, and its secret', async () => {
  const url = 'https://user-content.example.com:8443/hook/a%20b?token=x&y=1#part';
  const description = 'Für alle – 🙂\nLine two';
  const events = ['email.delivered', 'email.bounced', 'sms.received'];
  const answer = await create({ url, description, events });
  expect(answer.status).toBe(201);
  expect(answer.headers['location']).toBe(`${api.url}/v2/webhooks/${answer.body.id}`);
  expect(answer.body).toStrictEqual({
    id: expect.stringMatching(/^webhook_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
    url,
    description,
    events,
    apiVersion: '2026-11-01',
    active: true,
    autoDisabled: false,
    autoDisableExempt: false,
    autoDisableAfterMinutes: 360,
    atRiskAlertPercent: 10,
    pausedUntil: null,
    failingSince: null,
    consecutiveFailures: 0,
    inboundNumber: null,
    secretVersion: 1,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9_-]{43}$/),
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
});

test('the secret is shown by the answer that issued it and never again', async () => {
  const { body: created } = await create();
  const { body: another } = await create();
  expect(another.secret).not.toBe(created.secret);
  expect((await read(`/${created.id}`)).body).toStrictEqual({ ...created, secret: null });
  const listed = (await read()).body.data.find(({ id }: { id: string }) => id === created.id);
  expect(listed).toStrictEqual({ ...created, secret: null });
});

test('the secret is stored sealed', async () => {
  const { body } = await create();
  const sql = 'SELECT secret FROM webhooks WHERE id = ?';
  const stored = (await query<{ secret: Buffer }[]>(sql, [idToBytes(body.id)]))[0]!.secret;
  expect(stored.includes(Buffer.from(body.secret))).toBe(false);
  expect(stored.includes(Buffer.from(body.secret.slice(6), 'base64url'))).toBe(false);
});

test('every setting that is given is kept, and null is the default', async () => {
  const given = {
    apiVersion: '2026-11-01',
    inboundNumber: '+447700900123',
    events: ['sms.received'],
    autoDisableExempt: true,
    autoDisableAfterMinutes: 5,
    atRiskAlertPercent: 0,
  };
  expect((await create(given)).body).toMatchObject(given);
  const largest = { autoDisableAfterMinutes: 10_080, atRiskAlertPercent: 99 };
  expect((await create(largest)).body).toMatchObject(largest);
  const nothing = {
    description: null,
    apiVersion: null,
    inboundNumber: null,
    autoDisableExempt: null,
    autoDisableAfterMinutes: null,
    atRiskAlertPercent: null,
  };
  expect((await create(nothing)).body).toMatchObject({
    description: null,
    apiVersion: '2026-11-01',
    inboundNumber: null,
    autoDisableExempt: false,
    autoDisableAfterMinutes: 360,
    atRiskAlertPercent: 10,
  });
});

test('a webhook can subscribe to every event there is, and to each once', async () => {
  expect((await create({ events: [...eventTypes] })).body.events).toEqual(eventTypes);
  expect((await create({ events: ['email.sent', 'email.sent'] })).body.events).toEqual(['email.sent']);
});

test.each<[field: string, value: unknown]>([
  ['url', undefined],
  ['url', null],
  ['url', ''],
  ['url', 7],
  ['url', 'example.com/hook'],
  ['url', '/hook'],
  ['url', '//example.com/hook'],
  ['url', 'ftp://example.com/hook'],
  ['url', 'javascript:alert(1)'],
  ['url', 'file:///etc/passwd'],
  ['url', 'http:example.com'],
  ['url', 'https://'],
  ['url', 'https://user@example.com/'],
  ['url', 'https://user:password@example.com/'],
  ['url', ' https://example.com/'],
  ['url', 'https://example.com/\n'],
  ['url', 'https://example.com:99999/'],
  ['url', `https://example.com/${'x'.repeat(2048)}`],
  ['url', 'http://10.0.0.1/'],
  ['url', 'http://192.168.1.1/'],
  ['url', 'http://169.254.169.254/latest/meta-data'],
  ['url', 'http://0.0.0.0/'],
  ['url', 'http://167772161/'],
  ['url', 'http://0xa000001/'],
  ['url', 'http://[fd00::1]/'],
  ['url', 'http://[::ffff:10.0.0.1]/'],
  ['url', 'http://224.0.0.1/'],
  ['description', 7],
  ['description', 'x'.repeat(501)],
  ['description', 'nul\u0000'],
  ['events', undefined],
  ['events', null],
  ['events', []],
  ['events', 'email.sent'],
  ['events[0]', [7]],
  ['events[0]', ['email.*']],
  ['events[1]', ['email.sent', 'email.exploded']],
  ['events[0]', ['EMAIL.SENT']],
  ['apiVersion', 7],
  ['apiVersion', '2020-01-01'],
  ['inboundNumber', '07700900123'],
  ['inboundNumber', '+44 7700 900123'],
  ['inboundNumber', 447_700_900_123],
  ['autoDisableExempt', 'true'],
  ['autoDisableAfterMinutes', 4],
  ['autoDisableAfterMinutes', 10_081],
  ['autoDisableAfterMinutes', 5.5],
  ['autoDisableAfterMinutes', '60'],
  ['atRiskAlertPercent', -1],
  ['atRiskAlertPercent', 100],
  ['atRiskAlertPercent', '10'],
])('%s %j is refused under its name', async (field, value) => {
  const { status, body } = await create({ [field.split('[')[0]!]: value });
  expect(status).toBe(400);
  expect(body.type).toBe(`${api.url}/problems/validation_failed`);
  expect(Object.keys(body.errors)).toEqual([field]);
});

test('a description of 500 characters is taken, counted in code points', async () => {
  const description = '🙂'.repeat(500);
  expect((await create({ description })).body.description).toBe(description);
});

test('an inboundNumber goes with sms.received only', async () => {
  const { status, body } = await create({
    inboundNumber: '+447700900123',
    events: ['sms.received', 'sms.sent'],
  });
  expect(status).toBe(400);
  expect(Object.keys(body.errors)).toEqual(['inboundNumber']);
});

test('everything that is wrong is said at once', async () => {
  const { body } = await create({ url: 7, events: [], description: 7, atRiskAlertPercent: 100 });
  expect(Object.keys(body.errors).toSorted()).toEqual(['atRiskAlertPercent', 'description', 'events', 'url']);
  const second = await create({ url: 'http://10.0.0.1', apiVersion: 'x', inboundNumber: '+447700900123' });
  expect(Object.keys(second.body.errors).toSorted()).toEqual(['apiVersion', 'inboundNumber', 'url']);
});

test('webhooks are listed newest first, in one page', async () => {
  const mine = await workspace();
  expect((await read('', mine.key)).body).toStrictEqual({ data: [], nextCursor: null });
  const created: string[] = [];
  for (let count = 0; count < 3; count += 1) created.unshift((await create({}, mine.key)).body.id);
  const { status, body } = await read('', mine.key);
  expect(status).toBe(200);
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(created);
  expect(body.nextCursor).toBeNull();
});

test('a deleted webhook is gone', async () => {
  const { body } = await create();
  const remove = () => api.request('DELETE', `/v2/webhooks/${body.id}`, { key: own.key });
  const removed = await remove();
  expect(removed).toMatchObject({ status: 204, body: '' });
  expect((await read(`/${body.id}`)).status).toBe(404);
  expect((await remove()).status).toBe(404);
  expect(JSON.stringify((await read()).body)).not.toContain(body.id);
});

test('a workspace that is not enabled for v2 webhooks is refused', async () => {
  const mine = await workspace();
  await query('UPDATE workspaces SET webhooks_enabled = 0 WHERE id = ?', [idToBytes(mine.workspaceId)]);
  const { status, body } = await create({}, mine.key);
  expect(status).toBe(403);
  expect(body.type).toBe(`${api.url}/problems/webhooks_not_enabled`);
});

test.each(['recipients.read', 'content.read'] as const)(
  'who may not see what deliveries show cannot have them delivered: without %s 403',
  async (missing) => {
    const held = scopes.filter((scope) => scope !== missing);
    const { key } = await apiKeys.issue(own.workspaceId, { scopes: held });
    const { status, body } = await create({}, key);
    expect(status).toBe(403);
    expect(body.type).toBe(`${api.url}/problems/forbidden`);
    expect(body.detail).toContain(missing);
  },
);

test('a workspace has at most 100 webhooks, also when twenty are made at once', async () => {
  const mine = await workspace();
  for (let count = 0; count < 90; count += 10)
    await Promise.all(Array.from({ length: 10 }, () => create({}, mine.key)));
  const answers = await Promise.all(Array.from({ length: 20 }, () => create({}, mine.key)));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(10);
  for (const { status, body } of refused) {
    expect(status).toBe(409);
    expect(body.type).toBe(`${api.url}/problems/limit_exceeded`);
  }
  const { body } = await read('', mine.key);
  expect(body.data).toHaveLength(100);
  await api.request('DELETE', `/v2/webhooks/${body.data[0].id}`, { key: mine.key });
  expect((await create({}, mine.key)).status).toBe(201);
  expect((await create({}, mine.key)).status).toBe(409);
});

test('a body of more than 1 MiB is refused with 413', async () => {
  const { status } = await create({ padding: 'x'.repeat(1024 * 1024) });
  expect(status).toBe(413);
});

const kindOf = ({ status, body }: { status: number; body: any }) => [status, body.type?.split('/').at(-1)];
const exists = [409, 'webhook_exists'];

test('the same URL with the same events and inboundNumber is there once', async () => {
  const url = newUrl('https://example.com/Same');
  const events = ['sms.received', 'email.sent'];
  const { body: made } = await create({ url, events });
  for (const again of [
    { url, events },
    { url, events: ['email.sent', 'sms.received', 'email.sent'] },
    { url: url.replace('https://example.com', 'HTTPS://EXAMPLE.com:443'), events },
    { url: url.replace('.com/', '.com/x/../'), events },
    { url: `${url}#part`, events },
    { url, events, apiVersion: '2026-11-01', description: 'Another', autoDisableExempt: true },
  ]) {
    const refused = await create(again);
    expect([again, ...kindOf(refused)]).toEqual([again, ...exists]);
    expect(refused.body.detail).toContain(made.id);
  }
  for (const other of [
    { url: `${url}?a=b`, events },
    { url: `${url}/`, events },
    { url: url.toLowerCase(), events },
    { url: url.replace('https:', 'http:'), events },
    { url: url.replace('.com/', '.com:8443/'), events },
    { url, events: ['sms.received'] },
    { url, events: [...events, 'email.failed'] },
    { url, events: ['sms.received'], inboundNumber: '+447700900123' },
    { url, events: ['sms.received'], inboundNumber: '+447700900124' },
  ])
    expect((await create(other)).status).toBe(201);
  const forNumber = { url, events: ['sms.received'], inboundNumber: '+447700900123' };
  expect(kindOf(await create(forNumber))).toEqual(exists);
  const { key } = await workspace();
  expect((await create({ url, events }, key)).status).toBe(201);

  await api.request('DELETE', `/v2/webhooks/${made.id}`, { key: own.key });
  expect((await create({ url, events })).status).toBe(201);
});

test('of ten requests at once for the same webhook one makes it', async () => {
  const url = newUrl();
  const answers = await Promise.all(Array.from({ length: 10 }, () => create({ url })));
  const kinds = answers.map(kindOf).toSorted(([one], [other]) => Number(one) - Number(other));
  expect(kinds).toEqual([[201, undefined], ...Array.from({ length: 9 }, () => exists)]);
});
