import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { type Param, query } from '../../../../shared/db/client.ts';
import * as retention from '../../../../shared/domain/operations/retention.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { newEmail } from '../../../support/data/new-email.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';
import { ask, codeOf, essence } from './ask.ts';
import { startEffectsApi } from './effects-api.ts';

useDatabase();

let api: Client;
let effectsApi: Awaited<ReturnType<typeof startEffectsApi>>;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  effectsApi = await startEffectsApi();
  own = await workspace();
});

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const emailsOf = async (clientReference: string) =>
  (await api.request('GET', `/v2/email?clientReference=${clientReference}`, { key: own.key })).body.data;
const recordsOf = async (key: string) =>
  Number(
    (
      await query('SELECT COUNT(*) AS n FROM idempotency_records WHERE idempotency_key = ?', [
        Buffer.from(key),
      ])
    )[0]!['n'],
  );

test('the same request again gets the first answer byte for byte, and nothing is done twice', async () => {
  const question = {
    key: own.key,
    idempotencyKey: 'order-1',
    body: newEmail(own, {
      clientReference: 'twice',
      subject: 'Grüße, 世界 "quoted"',
      content: { text: 'Line\u2028separator, \u{1F600} and \t a tab' },
    }),
  };
  const first = await ask(api.url, question);
  expect([first.status, first.isReplayed]).toEqual([201, false]);
  expect(first.headers['location']).toBe(`${api.url}/v2/email/${first.json().id}`);
  for (let again = 0; again < 3; again += 1) {
    const replay = await ask(api.url, question);
    expect(essence(replay)).toEqual(essence(first));
    expect(replay.isReplayed).toBe(true);
  }
  expect(await emailsOf('twice')).toHaveLength(1);
  const events = await api.request('GET', `/v2/email/${first.json().id}/events`, { key: own.key });
  expect(events.body.data).toHaveLength(1);
});

test('a request without the header is done each time', async () => {
  const body = newEmail(own, { clientReference: 'each' });
  const [one, other] = [
    await ask(api.url, { key: own.key, body }),
    await ask(api.url, { key: own.key, body }),
  ];
  expect(one.json().id).not.toBe(other.json().id);
  expect(await emailsOf('each')).toHaveLength(2);
});

test('what has changed since does not change a replay', async () => {
  const scheduledAt = new Date(now().getTime() + dayMs).toISOString();
  const question = {
    key: own.key,
    idempotencyKey: 'changed',
    body: newEmail(own, { scheduledAt, clientReference: 'changed' }),
  };
  const first = await ask(api.url, question);
  const cancelled = await ask(api.url, {
    key: own.key,
    method: 'DELETE',
    path: `/v2/email/${first.json().id}`,
  });
  expect(cancelled.json().status).toBe('cancelled');
  expect(essence(await ask(api.url, question))).toEqual(essence(first));
});

test('a replay is not checked again: its scheduledAt may have passed', async () => {
  const scheduledAt = new Date(now().getTime() + hourMs).toISOString();
  const body = newEmail(own, { scheduledAt, clientReference: 'passed' });
  const question = { key: own.key, idempotencyKey: 'passed', body };
  const first = await ask(api.url, question);
  expect(first.status).toBe(201);
  await advanceClock(2 * hourMs);
  const replay = await ask(api.url, question);
  expect(essence(replay)).toEqual(essence(first));
  expect(replay.isReplayed).toBe(true);
  const anew = await ask(api.url, { ...question, idempotencyKey: 'passed-anew' });
  expect([anew.status, codeOf(anew)]).toEqual([400, 'validation_failed']);
});

test('an answer without a body is replayed without one', async () => {
  const question = {
    key: own.key,
    idempotencyKey: 'silent',
    path: '/v2/effects/silent',
  };
  for (const isReplayed of [false, true, true]) {
    const reply = await ask(effectsApi.url, question);
    expect([reply.status, reply.text, reply.isReplayed]).toEqual([204, '', isReplayed]);
    expect(reply.headers).not.toHaveProperty('content-type');
    expect(reply.headers).not.toHaveProperty('location');
  }
  expect(await effectsApi.effects('silent')).toBe(1);
});

test('a PATCH is done once too', async () => {
  const question = {
    key: own.key,
    idempotencyKey: 'patched',
    method: 'PATCH',
    path: '/v2/effects/patched',
    body: { note: 'x' },
  };
  const first = await ask(effectsApi.url, question);
  expect([first.status, first.isReplayed]).toEqual([200, false]);
  const replay = await ask(effectsApi.url, question);
  expect([essence(replay), replay.isReplayed]).toEqual([essence(first), true]);
  expect(await effectsApi.effects('patched')).toBe(1);
});

test('a one-time secret is replayed, and is nowhere in the database as it is', async () => {
  const question = {
    key: own.key,
    idempotencyKey: 'hook-1',
    path: '/v2/webhooks',
    body: { url: 'https://example.com/hook', events: ['email.sent'], description: 'a description to find' },
  };
  const first = await ask(api.url, question);
  expect(first.status).toBe(201);
  const { secret, id } = first.json();
  expect(secret).toMatch(/^whsec_.{40}/);
  const replay = await ask(api.url, question);
  expect([essence(replay), replay.isReplayed]).toEqual([essence(first), true]);
  const read = await ask(api.url, { key: own.key, method: 'GET', path: `/v2/webhooks/${id}` });
  expect(read.json().secret).toBeNull();

  const tables = await query<{ name: string }[]>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  const found = async (text: string) => {
    const holders: string[] = [];
    for (const { name } of tables) {
      const rows = await query<Record<string, Param>[]>(`SELECT * FROM \`${name}\``);
      const cells = rows.flatMap((row) => Object.values(row));
      if (cells.some((cell) => (Buffer.isBuffer(cell) ? cell.includes(text) : String(cell).includes(text))))
        holders.push(name);
    }
    return holders;
  };
  expect(await found('a description to find')).toEqual(['webhooks']);
  expect(await found(secret)).toEqual([]);
  expect(await found(secret.slice('whsec_'.length))).toEqual([]);
  expect(await found(own.key)).toEqual([]);
});

// Shows A4
test('a stored answer does not open for another key, API key or workspace', async () => {
  const question = { key: own.key, body: newEmail(own) };
  const one = await ask(api.url, { ...question, idempotencyKey: 'sealed-1' });
  await ask(api.url, { ...question, idempotencyKey: 'sealed-2' });
  await query(
    `UPDATE idempotency_records AS one JOIN idempotency_records AS other
     ON one.idempotency_key = ? AND other.idempotency_key = ? SET other.answer = one.answer`,
    [Buffer.from('sealed-1'), Buffer.from('sealed-2')],
  );
  expect(essence(await ask(api.url, { ...question, idempotencyKey: 'sealed-1' }))).toEqual(essence(one));
  const swapped = await ask(api.url, { ...question, idempotencyKey: 'sealed-2' });
  expect([swapped.status, codeOf(swapped)]).toEqual([500, 'internal_error']);
  expect(swapped.text).not.toContain(one.json().id);
});

test('a key is kept for 24 hours, purged or not; then the request is done again', async () => {
  const question = {
    key: own.key,
    idempotencyKey: 'a-day',
    body: newEmail(own, { clientReference: 'a-day' }),
  };
  const first = await ask(api.url, question);
  await advanceClock(dayMs - 60_000);
  await retention.purge();
  expect((await ask(api.url, question)).text).toBe(first.text);
  await advanceClock(2 * 60_000);
  const second = await ask(api.url, question);
  expect([second.status, second.isReplayed]).toEqual([201, false]);
  expect(second.json().id).not.toBe(first.json().id);
  expect(await emailsOf('a-day')).toHaveLength(2);
  // The new answer is kept for 24 hours again.
  await advanceClock(dayMs - 60_000);
  await retention.purge();
  expect(essence(await ask(api.url, question))).toEqual(essence(second));
  expect(await recordsOf('a-day')).toBe(1);
});

test('a key that has expired may be used for another request', async () => {
  const question = { key: own.key, idempotencyKey: 'again', body: newEmail(own) };
  await ask(api.url, question);
  const other = { ...question, body: newEmail(own, { subject: 'Another' }) };
  expect(codeOf(await ask(api.url, other))).toBe('idempotency_key_reused');
  await advanceClock(dayMs + 1_000);
  const reply = await ask(api.url, other);
  expect([reply.status, reply.isReplayed]).toEqual([201, false]);
});

test('an expired record is purged', async () => {
  await ask(api.url, { key: own.key, idempotencyKey: 'purged', body: newEmail(own) });
  await retention.purge();
  expect(await recordsOf('purged')).toBe(1);
  await advanceClock(dayMs + 1_000);
  expect(await retention.purge()).toBeGreaterThan(0);
  expect(await recordsOf('purged')).toBe(0);
});
