import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
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

const settings = {
  url: 'https://example.com/hook',
  description: 'A hook',
  events: ['email.sent', 'email.bounced'],
  autoDisableExempt: true,
  autoDisableAfterMinutes: 60,
  atRiskAlertPercent: 25,
};
const forNumber = { events: ['sms.received'], inboundNumber: '+447700900123' };

async function make(changes: object = {}): Promise<any> {
  const body = { ...settings, url: newUrl(), ...changes };
  const { status, body: made } = await api.request('POST', '/v2/webhooks', { key: own.key, body });
  expect(status).toBe(201);
  return made;
}
const change = (id: string, body: unknown, key = own.key) =>
  api.request('PATCH', `/v2/webhooks/${id}`, { key, body });
const read = async (id: string) => (await api.request('GET', `/v2/webhooks/${id}`, { key: own.key })).body;

test('what is left out stays as it is', async () => {
  for (const made of [await make(), await make(forNumber)]) {
    const { status, body } = await change(made.id, {});
    expect(status).toBe(200);
    expect(body).toStrictEqual({ ...made, secret: null });
    expect(await read(made.id)).toStrictEqual(body);
  }
});

test.each<[string, Record<string, unknown>]>([
  ['url', { url: 'http://hooks.example.org:8080/a%20b?x=1#part' }],
  ['description', { description: 'Größer 🙂\nLine two' }],
  ['events', { events: ['sms.sent'] }],
  ['apiVersion', { apiVersion: '2026-11-01' }],
  ['inboundNumber with events', forNumber],
  ['active', { active: false }],
  ['autoDisableExempt', { autoDisableExempt: false }],
  ['autoDisableAfterMinutes', { autoDisableAfterMinutes: 10_080 }],
  ['atRiskAlertPercent', { atRiskAlertPercent: 0 }],
  ['all at once', { ...forNumber, url: 'https://example.org/', description: '', atRiskAlertPercent: 99 }],
])('%s is changed, and nothing else', async (_name, changes) => {
  const made = await make();
  const { status, body } = await change(made.id, changes);
  expect(status).toBe(200);
  expect(body).toStrictEqual({ ...made, ...changes, secret: null });
  expect(await read(made.id)).toStrictEqual(body);
});

test.each<[field: string, default_: unknown, first: object]>([
  ['description', null, {}],
  ['inboundNumber', null, forNumber],
  ['autoDisableExempt', false, {}],
  ['autoDisableAfterMinutes', 360, {}],
  ['atRiskAlertPercent', 10, {}],
])('null puts %s back to %j', async (field, default_, first) => {
  const made = await make(first);
  expect(made[field]).not.toBe(default_);
  const { body } = await change(made.id, { [field]: null });
  expect(body).toStrictEqual({ ...made, [field]: default_, secret: null });
});

test.each<[field: string, value: unknown]>([
  ['url', null],
  ['url', ''],
  ['url', 7],
  ['url', 'ftp://example.com/'],
  ['url', 'https://user:password@example.com/'],
  ['url', 'https://user@example.com/'],
  ['url', 'http://10.0.0.1/'],
  ['url', 'http://169.254.169.254/latest'],
  ['url', 'http://[::ffff:10.0.0.1]/'],
  ['url', `https://example.com/${'x'.repeat(2048)}`],
  ['description', 'x'.repeat(501)],
  ['description', 7],
  ['events', null],
  ['events', []],
  ['events', 'email.sent'],
  ['events[0]', ['email.*']],
  ['events[1]', ['email.sent', 'webhook.test']],
  ['events[0]', ['inbound']],
  ['events[1]', ['sms.received', 'delivery_receipt']],
  ['apiVersion', null],
  ['apiVersion', '2020-01-01'],
  ['apiVersion', 7],
  ['inboundNumber', '07700900123'],
  ['inboundNumber', '+447700900123'],
  ['active', null],
  ['active', 'true'],
  ['active', 1],
  ['autoDisableExempt', 'false'],
  ['autoDisableAfterMinutes', 4],
  ['autoDisableAfterMinutes', 10_081],
  ['autoDisableAfterMinutes', '60'],
  ['atRiskAlertPercent', -1],
  ['atRiskAlertPercent', 100],
])('%s %j is refused under its name, and nothing is changed', async (field, value) => {
  const made = await make();
  const name = field.split('[')[0]!;
  const { status, body } = await change(made.id, { description: 'Changed', [name]: value });
  expect(status).toBe(400);
  expect(body.type).toBe(`${api.url}/problems/validation_failed`);
  expect(Object.keys(body.errors)).toEqual([field]);
  expect(await read(made.id)).toStrictEqual({ ...made, secret: null });
});

test('everything that is wrong is said at once', async () => {
  const made = await make();
  const fields = async (body: object) => Object.keys((await change(made.id, body)).body.errors).toSorted();
  const byForm = { url: null, events: [], active: null, atRiskAlertPercent: 100 };
  expect(await fields(byForm)).toEqual(['active', 'atRiskAlertPercent', 'events', 'url']);
  const byRule = { url: 'http://10.0.0.1/', apiVersion: 'x', inboundNumber: '+447700900123' };
  expect(await fields(byRule)).toEqual(['apiVersion', 'inboundNumber', 'url']);
});

test('an inboundNumber goes with sms.received only, whichever of the two is changed', async () => {
  const any = await make();
  const number = await make(forNumber);
  const fields = async (id: string, body: object) => Object.keys((await change(id, body)).body.errors ?? {});
  expect(await fields(any.id, { inboundNumber: '+447700900123' })).toEqual(['inboundNumber']);
  expect(await fields(any.id, { ...forNumber, events: ['sms.received', 'sms.sent'] })).toEqual([
    'inboundNumber',
  ]);
  expect(await fields(number.id, { events: ['sms.sent'] })).toEqual(['events']);
  expect(await fields(number.id, { events: ['sms.sent'], inboundNumber: null })).toEqual([]);
  expect(await fields(any.id, forNumber)).toEqual([]);
  expect(await fields(any.id, { inboundNumber: '+447700900124' })).toEqual([]);
});

test('an event that is named twice is kept once', async () => {
  const { id } = await make();
  const { body } = await change(id, { events: ['sms.sent', 'sms.failed', 'sms.sent'] });
  expect(body.events).toEqual(['sms.sent', 'sms.failed']);
});

// Shows A14
test('unknown fields, and those that only the service sets, are ignored', async () => {
  const made = await make();
  const { body } = await change(made.id, {
    id: 'webhook_00000000000000000000000000',
    autoDisabled: true,
    failingSince: '2026-11-20T10:00:00.000Z',
    consecutiveFailures: 3,
    secret: 'whsec_mine',
    secretVersion: 9,
    color: 'red',
  });
  expect(body).toStrictEqual({ ...made, secret: null });
});

test('two changes at once are both kept', async () => {
  const { id } = await make();
  for (let round = 0; round < 10; round += 1) {
    const [description, autoDisableAfterMinutes] = [`Round ${round}`, 100 + round];
    const answers = await Promise.all([
      change(id, { description }),
      change(id, { autoDisableAfterMinutes }),
      change(id, { active: round % 2 === 0 }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await read(id)).toMatchObject({ description, autoDisableAfterMinutes, active: round % 2 === 0 });
  }
});

test('a webhook whose url is no longer allowed can still be switched off', async () => {
  const { id } = await make();
  await query("UPDATE webhooks SET url = 'http://10.0.0.1/' WHERE id = ?", [idToBytes(id)]);
  expect((await change(id, { active: false })).body).toMatchObject({
    active: false,
    url: 'http://10.0.0.1/',
  });
});

test('a webhook of another workspace is not there, and not changed', async () => {
  const made = await make();
  const { key } = await workspace();
  expect((await change(made.id, { active: false }, key)).status).toBe(404);
  expect(await read(made.id)).toMatchObject({ active: true });
});

test('in a workspace without v2 webhooks those that are there can still be changed', async () => {
  const mine = await workspace();
  const { body: made } = await api.request('POST', '/v2/webhooks', { key: mine.key, body: settings });
  await query('UPDATE workspaces SET webhooks_enabled = 0 WHERE id = ?', [idToBytes(mine.workspaceId)]);
  expect((await change(made.id, { active: false }, mine.key)).status).toBe(200);
});

const exists = 'webhook_exists';
const problemOf = ({ body }: { body: any }) => body.type?.split('/').at(-1) ?? null;

test('no change makes a webhook the same as another one', async () => {
  const one = await make({ events: ['sms.received'] });
  const other = await make({ url: one.url, events: ['sms.sent'] });
  const elsewhere = await make({ events: ['sms.received'] });
  const forOneNumber = await make({ url: one.url, ...forNumber });
  expect(problemOf(await change(other.id, { events: ['sms.received'] }))).toBe(exists);
  expect(problemOf(await change(elsewhere.id, { url: `${one.url}#part` }))).toBe(exists);
  expect(problemOf(await change(forOneNumber.id, { inboundNumber: null }))).toBe(exists);
  const both = { url: one.url, events: ['sms.sent'] };
  expect(problemOf(await change(elsewhere.id, both))).toBe(exists);
  for (const made of [one, other, elsewhere, forOneNumber])
    expect(await read(made.id)).toStrictEqual({ ...made, secret: null });
  // A webhook does not conflict with itself.
  const own = { url: one.url, events: ['sms.received'], inboundNumber: null, description: 'Mine' };
  expect(problemOf(await change(one.id, own))).toBeNull();
});

test('of two that become the same at once one does', async () => {
  const [one, other] = [await make(), await make()];
  for (let round = 0; round < 5; round += 1) {
    const url = newUrl();
    const answers = await Promise.all([change(one.id, { url }), change(other.id, { url })]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  }
});

test('those that were the same before can still be switched off, and made different', async () => {
  const [one, other] = [await make(), await make()];
  await query('UPDATE webhooks SET url = ? WHERE id = ?', [one.url, idToBytes(other.id)]);
  const again = { url: one.url, events: one.events, active: false, description: 'The second' };
  expect((await change(other.id, again)).body).toMatchObject({ active: false, description: 'The second' });
  expect((await change(other.id, { events: ['sms.sent'] })).status).toBe(200);
  expect(problemOf(await change(other.id, { events: one.events }))).toBe(exists);
});
