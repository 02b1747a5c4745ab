import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { sendEmail } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  const make = (body: object) => api.request('POST', '/v2/contacts', { key: own.key, body });
  for (const body of [
    {
      number: '+447700900001',
      firstName: 'Ada',
      email: 'ada@example.com',
      clientReference: 'abc',
      tags: ['abc'],
    },
    { number: '+447700900002', firstName: '100%_sure\\', clientReference: 'a%c', tags: ['a%c'] },
    { number: '+447700900003', firstName: "O'Brien", clientReference: 'a_c', tags: ['a_c'] },
  ])
    expect((await make(body)).status).toBe(201);
  await sendEmail(api, own, { clientReference: 'abc', recipient: 'a_c@example.com' });
  await sendEmail(api, own, { clientReference: 'a%c', recipient: 'abc@example.com' });
});

const found = async (path: string, query: Record<string, string>) => {
  const { status, body } = await api.request('GET', `${path}?${new URLSearchParams(query).toString()}`, {
    key: own.key,
  });
  expect(status).toBe(200);
  return body.data.length;
};

// Shows A27
test.each([
  ['%', 0],
  ['_', 0],
  ['\\', 0],
  ['%%', 0],
  ['100%', 1],
  ['100_', 1],
  ['\\%', 0],
  ['.*', 0],
  ['^', 0],
  ['[a-z]', 0],
  ['(', 0],
  ["'", 0],
  ["o'", 1],
  ["' OR 1=1 -- ", 0],
  ['"', 0],
  ['+ada -obrien', 0],
  ['@3', 0],
  ['😀', 0],
  ['\u00a0', 3],
])('a search for %j takes it as it is written, and finds %i', async (search, count) => {
  expect(await found('/v2/contacts', { search })).toBe(count);
});

// Shows A27
test.each([
  ['/v2/contacts', 'tag'],
  ['/v2/contacts', 'clientReference'],
  ['/v2/email', 'clientReference'],
])('%s?%s= knows no wildcards', async (path, name) => {
  for (const value of ['%', '_', '___', 'a%', 'a\\%c', '.*', "' OR ''='"])
    expect([value, await found(path, { [name]: value })]).toEqual([value, 0]);
  expect(await found(path, { [name]: 'abc' })).toBe(1);
  expect(await found(path, { [name]: 'a%c' })).toBe(1);
});

test('a recipient knows no wildcards', async () => {
  expect(await found('/v2/email', { recipient: 'a_c@example.com' })).toBe(1);
  expect(await found('/v2/email', { recipient: 'a%c@example.com' })).toBe(0);
});

// Shows A27
test('a search of 10,000 characters is refused, and one of 200 is answered, whatever it is of', async () => {
  const ask = (search: string) =>
    api.request('GET', `/v2/contacts?${new URLSearchParams({ search }).toString()}`, { key: own.key });
  for (const part of ['a', '1']) expect((await ask(part.repeat(10_000))).status).toBe(400);
  for (const part of ['a', '%', 'a ', '\\', '"', '1', 'é', '😀', '\u0300', 'ß', ' '])
    expect([part, (await ask(part.repeat(200 / [...part].length))).status]).toEqual([part, 200]);
});
