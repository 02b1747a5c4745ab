import { beforeAll, expect, test } from 'vitest';
import { codeOf } from '../support/api/contract.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

const save = (key: string, contacts: unknown[]) =>
  api.request('POST', '/v2/contacts/batch', { key, body: { contacts } });
const all = async (key: string) => (await api.request('GET', '/v2/contacts?limit=200', { key })).body.data;
const rows = (row: (index: number) => unknown) => Array.from({ length: 1_000 }, (_, index) => row(index));

// Shows A22
test('a thousand rows of which none can be saved are each told of, and nothing is saved', async () => {
  const { key } = await workspace();
  const { status, body } = await save(
    key,
    rows((index) => ({ number: `nobody ${index}`, email: '@', lastName: 'x' })),
  );
  expect([status, body.created, body.updated]).toEqual([200, 0, 0]);
  expect(body.errors.length).toBe(1_000);
  expect(await all(key)).toEqual([]);
});

// Shows A22
test('a thousand rows of one number, in a thousand forms, are one contact with the words of the last', async () => {
  const { key } = await workspace();
  const blanks = (index: number) => '-'.repeat(index % 4);
  const { body } = await save(
    key,
    rows((index) => ({
      number: `${index % 2 ? '+44 ' : '0'}7700${blanks(index)}900123`,
      firstName: `${index}`,
    })),
  );
  expect([body.created, body.updated]).toEqual([1, 999]);
  expect(await all(key)).toMatchObject([{ number: '+447700900123', firstName: '999' }]);
});

// Shows A22
test('the same thousand rows twice at the same time are a thousand contacts', async () => {
  const { key } = await workspace();
  const contacts = rows((index) => ({
    number: `+44791112${String(index).padStart(4, '0')}`,
    firstName: 'Ada',
  }));
  const answers = await Promise.all([save(key, contacts), save(key, contacts)]);
  // The request that came late has saved nothing, and may be sent again.
  for (const { status, body } of answers)
    if (status !== 200) expect([status, codeOf(body)]).toEqual([409, 'contacts_conflict']);
  const done = answers.filter(({ status }) => status === 200);
  expect(done.reduce((sum, { body }) => sum + body.created, 0)).toBe(1_000);
  expect((await save(key, contacts)).body).toMatchObject({ created: 0, updated: 1_000 });
  const { body } = await api.request('POST', '/v2/contact-lists/preview', {
    key,
    body: { filter: { search: 'Ada' } },
  });
  expect(body.count).toBe(1_000);
});
