import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { load } from '../../../shared/domain/sms/prices.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  await load(
    ['country,gbp,eur,validFrom', 'GB,0.0345,0.0412,2020-01-01', 'FR,0.0650,,2020-01-01'].join('\n'),
  );
});

const preview = (body: object, key = own.key) => api.request('POST', '/v2/sms/preview', { key, body });

test('without a recipient it tells parts and encoding, and no cost', async () => {
  const { status, body } = await preview({ content: 'Hello' });
  expect([status, body]).toEqual([200, { parts: 1, encoding: 'gsm7', tooManyParts: false }]);
  expect((await preview({ content: 'Привет '.repeat(20), recipient: null })).body).toEqual({
    parts: 3,
    encoding: 'ucs2',
    tooManyParts: false,
  });
});

test.each([
  ['+447700900123', { gbp: '0.0690', eur: '0.0824' }],
  ['07700 900123', { gbp: '0.0690', eur: '0.0824' }],
  ['0033 6 12 34 56 78', { gbp: '0.1300', eur: null }],
  ['+4915112345678', { gbp: null, eur: null }],
  ['+80012345678', { gbp: null, eur: null }],
])('the cost of two parts to %s is by the country', async (recipient, cost) => {
  const { status, body } = await preview({ content: 'a'.repeat(161), recipient });
  expect([status, body]).toEqual([200, { parts: 2, encoding: 'gsm7', tooManyParts: false, cost }]);
});

test('a text of more parts than can be sent is counted all the same, and the answer says so', async () => {
  const { status, body } = await preview({ content: '😀'.repeat(5_000) });
  expect([status, body]).toEqual([200, { parts: 152, encoding: 'ucs2', tooManyParts: true }]);
});

test.each([
  [{}, ['content']],
  [{ content: '' }, ['content']],
  [{ content: 'a'.repeat(5_001) }, ['content']],
  [{ content: 'a\0' }, ['content']],
  [{ content: 'a', recipient: '' }, ['recipient']],
  [{ content: 'a', recipient: '12' }, ['recipient']],
  [{ content: 'a', recipient: '07700900123 ext 5' }, ['recipient']],
  [{ content: 'a', recipient: 'ACME' }, ['recipient']],
  [{ content: 'a', recipient: 447700900123 }, ['recipient']],
])('%j is refused on %j', async (body, fields) => {
  const answer = await preview(body);
  expect([answer.status, Object.keys(answer.body.errors)]).toEqual([400, fields]);
});

test('a key that may only send can preview, and one that may only read cannot', async () => {
  const sender = await workspace({ scopes: ['sms.send'] });
  expect((await preview({ content: 'Hello' }, sender.key)).status).toBe(200);
  const reader = await workspace({ scopes: ['sms.read'] });
  expect((await preview({ content: 'Hello' }, reader.key)).status).toBe(403);
});

test('nothing is kept of it', async () => {
  await preview({ content: 'Hello', recipient: '+447700900123' });
  const [row] = await query('SELECT COUNT(*) AS events FROM events');
  expect(Number(row!['events'])).toBe(0);
});
