import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { ask, codeOf, essence } from './ask.ts';

useDatabase();
let url: string;
beforeAll(async () => {
  ({ url } = await startApi());
});
beforeEach(() => changeSettings({ MAX_STORED_MB: 2_000 }));

const pageBytes = 500_000;

async function withTemplate() {
  const own = await workspace();
  const html = `<p>{{ name }}</p><!--${randomBytes(pageBytes / 2).toString('hex')}-->`;
  const body = { name: 'page', html, text: 'Dear {{ name }}' };
  const made = await ask(url, { key: own.key, path: '/v2/email/templates', body });
  expect(made.status, made.text).toBe(201);
  const path = `/v2/email/templates/${made.json().id}`;
  const render = (idempotencyKey: string | undefined) =>
    ask(url, {
      key: own.key,
      path: `${path}/render`,
      ...(idempotencyKey && { idempotencyKey }),
      body: { data: { name: 'Ada' } },
    });
  const change = (description: string, idempotencyKey = randomUUID()) =>
    ask(url, { key: own.key, method: 'PATCH', path, idempotencyKey, body: { description } });
  return { ...own, path, render, change };
}

async function storedBytes(workspaceId: string): Promise<number> {
  const [row] = await query<{ bytes: string | null }[]>(
    'SELECT SUM(LENGTH(answer)) AS bytes FROM idempotency_records WHERE workspace_id = ?',
    [idToBytes(workspaceId)],
  );
  return Number(row!.bytes ?? 0);
}

test('large renderings are stored up to MAX_STORED_MB, and past it those without a key are still made', async () => {
  changeSettings({ MAX_STORED_MB: 1 });
  const own = await withTemplate();
  const keys = Array.from({ length: 50 }, () => randomUUID());
  const statuses: number[] = [];
  for (const key of keys) statuses.push((await own.render(key)).status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(await storedBytes(own.workspaceId)).toBeLessThan(1_000_000 + pageBytes + 10_000);
  expect((await own.render(undefined)).status).toBe(200);
  const other = await withTemplate();
  expect((await other.render(randomUUID())).status).toBe(200);
});

test('a rendering is replayed byte for byte, whatever has become of its template', async () => {
  const own = await workspace();
  const make = { key: own.key, path: '/v2/email/templates', body: { name: 'small', html: '<p>One</p>' } };
  const path = `/v2/email/templates/${(await ask(url, make)).json().id}`;
  const question = { key: own.key, path: `${path}/render`, idempotencyKey: randomUUID(), body: { data: {} } };
  const first = await ask(url, question);
  await ask(url, { key: own.key, method: 'PATCH', path, body: { html: '<p>Two</p>' } });
  const again = await ask(url, question);
  expect(again.isReplayed).toBe(true);
  expect(essence(again)).toEqual(essence(first));
});

test('large answers to small changes are stored up to MAX_STORED_MB, and a change past it is not done', async () => {
  changeSettings({ MAX_STORED_MB: 1 });
  const own = await withTemplate();
  const key = randomUUID();
  const first = await own.change('change 0', key);
  expect(first.status).toBe(200);
  for (let count = 1; count < 3; count += 1) await own.change(`change ${count}`);
  const refused = await own.change('refused');
  expect([refused.status, codeOf(refused)]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(await storedBytes(own.workspaceId)).toBeLessThan(1_000_000 + 2 * pageBytes);
  const { text } = await ask(url, { key: own.key, method: 'GET', path: own.path });
  expect(JSON.parse(text).description).not.toBe('refused');
  const again = await own.change('change 0', key);
  expect(again.isReplayed).toBe(true);
  expect(essence(again)).toEqual(essence(first));
});
