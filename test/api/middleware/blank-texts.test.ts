import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
const paths: Record<string, string> = {};
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  const make = async (path: string, body: object) =>
    (paths[path] = `${path}/${(await api.request('POST', path, { key: own.key, body })).body.id}`);
  await make('/v2/contact-lists', { name: 'A list' });
  await make('/v2/templates', { name: 'A template', content: 'Hello' });
});

// Spaces of three kinds, and characters that do not show.
const blanks = ['   ', '\u00a0\u2003 ', '\u200b\u2060', '\t'];

test.each(
  ['/v2/contact-lists', '/v2/templates'].flatMap((path) => blanks.map((name) => [path, name] as const)),
)('%s does not take the name %j, neither new nor as a change', async (path, name) => {
  for (const [method, where] of [
    ['POST', path],
    ['PATCH', paths[path]!],
  ] as const) {
    const { status, body } = await api.request(method, where, {
      key: own.key,
      body: { name, ...(method === 'POST' && { content: 'Hello' }) },
    });
    expect([method, status, body.errors]).toEqual([method, 400, { name: ['must not be blank'] }]);
  }
});

test.each(blanks)('a sender is not reviewed by a message of nothing but %j', async (blank) => {
  const { status, body } = await api.request('POST', '/v2/senders', {
    key: own.key,
    body: { name: 'Acme', sampleContent: blank.repeat(20) },
  });
  expect([status, body.errors]).toEqual([400, { sampleContent: ['must not be blank'] }]);
});

test('text with spaces around it is kept as it was sent', async () => {
  const { status, body } = await api.request('POST', '/v2/contact-lists', {
    key: own.key,
    body: { name: '  A list ' },
  });
  expect([status, body.name]).toEqual([201, '  A list ']);
});
