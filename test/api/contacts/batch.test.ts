import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const send = (contacts: unknown, key = own.key) =>
  api.request('POST', '/v2/contacts/batch', { key, body: { contacts } });
const listed = async (key = own.key) =>
  (await api.request('GET', '/v2/contacts?limit=200', { key })).body.data;
const found = async (number: string, key = own.key) => {
  const path = `/v2/contacts?search=${encodeURIComponent(number)}`;
  return (await api.request('GET', path, { key })).body.data[0];
};
let count = 0;
const newNumber = () => `+447${String(800_000_000 + (count += 1))}`;
const newNumbers = (length: number) => Array.from({ length }, newNumber);

test('rows create contacts, newest last in the batch, and tags are ignored', async () => {
  const mine = await workspace();
  const rows = [
    { number: '07700 900001', firstName: 'Ada', company: 'Engines', tags: ['vip'] },
    { number: '+33 6 12 34 56 78', email: 'a@example.com', clientReference: '7', tags: 'junk' },
    { number: '07700 900002', firstName: null, lastName: '', tags: [5, null] },
  ];
  const answer = await send(rows, mine.key);
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ created: 3, updated: 0, errors: [], truncations: [] });
  expect(await listed(mine.key)).toMatchObject([
    { number: '+447700900002', country: 'GB', firstName: null, lastName: null, tags: [] },
    { number: '+33612345678', country: 'FR', email: 'a@example.com', clientReference: '7', tags: [] },
    { number: '+447700900001', firstName: 'Ada', lastName: null, company: 'Engines', tags: [] },
  ]);
});

test('a contact is known by its number: what a row leaves out or gives as null stays, empty text clears', async () => {
  const number = newNumber();
  const made = await api.request('POST', '/v2/contacts', {
    key: own.key,
    body: { number, firstName: 'Ada', lastName: 'Lovelace', company: 'Engines', tags: ['vip'] },
  });
  const written = `(0${number.slice(3, 6)}) ${number.slice(6)}`;
  const answer = await send([{ number: written, firstName: 'Augusta', lastName: null, company: '' }]);
  expect(answer.body).toMatchObject({ created: 0, updated: 1 });
  expect(await found(number)).toEqual({
    ...made.body,
    firstName: 'Augusta',
    company: null,
    updatedAt: expect.any(String),
  });
});

test('a row that changes nothing counts as updated and leaves updatedAt', async () => {
  const number = newNumber();
  await send([{ number, firstName: 'Ada' }]);
  const before = await found(number);
  await advanceClock(60_000);
  const answer = await send([{ number, firstName: 'Ada', lastName: '', company: null }]);
  expect(answer.body).toMatchObject({ created: 0, updated: 1 });
  expect(await found(number)).toEqual(before);
  await send([{ number, firstName: 'Eve' }]);
  expect((await found(number)).updatedAt > before.updatedAt).toBe(true);
});

test('a number that comes twice is one contact: the later row counts as updated', async () => {
  const number = newNumber();
  const rows = [
    { number, firstName: 'Ada', lastName: 'Lovelace', company: 'Engines' },
    { number: `0${number.slice(3)}`, firstName: 'Augusta', lastName: null, company: '' },
    { number: ` ${number}`, email: 'a@example.com' },
  ];
  const answer = await send(rows);
  expect(answer.body).toMatchObject({ created: 1, updated: 2, errors: [] });
  const augusta = { firstName: 'Augusta', lastName: 'Lovelace', company: null, email: 'a@example.com' };
  expect(await found(number)).toMatchObject(augusta);
});

test('rows that cannot be saved are told by their place, each with a sentence, and the rest are saved', async () => {
  const numbers = newNumbers(2);
  const rows = [
    { number: numbers[0] },
    { number: 'nobody' },
    { number: '   ' },
    { number: '07700 900123 ext 4' },
    { number: newNumber(), firstName: 'a\u0000b' },
    { number: newNumber(), email: 'a\ud800b' },
    { number: '1'.repeat(1000) },
    { number: numbers[1] },
  ];
  const { status, body } = await send(rows);
  expect(status).toBe(200);
  expect([body.created, body.updated]).toEqual([2, 0]);
  expect(body.errors).toEqual([
    { index: 1, error: 'number must be a phone number without letters or extension' },
    { index: 2, error: 'number must not be empty' },
    { index: 3, error: 'number must be a phone number without letters or extension' },
    { index: 4, error: 'firstName must not contain control characters' },
    { index: 5, error: 'email must not contain half of a surrogate pair' },
    { index: 6, error: 'number is too long for a phone number' },
  ]);
  expect(await found(numbers[1]!)).toBeDefined();
});

test.each([
  [
    'no number',
    [{ number: '07700900001' }, {}, { firstName: 'Ada' }],
    ['contacts[1].number', 'contacts[2].number'],
  ],
  ['an empty number', [{ number: '' }], ['contacts[0].number']],
  ['null for a number', [{ number: null }], ['contacts[0].number']],
  ['a number that is no text', [{ number: 5 }], ['contacts[0].number']],
  ['a name that is no text', [{ number: '07700900001', firstName: 5 }], ['contacts[0].firstName']],
  ['a row that is no object', ['07700900001'], ['contacts[0]']],
  ['no row', [], ['contacts']],
  ['no list', null, ['contacts']],
  // Shows A22
  ['1,001 rows', Array.from({ length: 1001 }, () => ({ number: '07700900001' })), ['contacts']],
])('%s refuses the whole request, naming the place', async (_, rows, fields) => {
  const mine = await workspace();
  const answer = await send(rows, mine.key);
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.body.errors)).toEqual(fields);
  expect(await listed(mine.key)).toEqual([]);
});

test('longer texts are shortened, in characters, and told with up to five rows', async () => {
  const numbers = newNumbers(7);
  const rows = numbers.map((number, index) => ({
    number,
    firstName: index === 0 ? 'x'.repeat(80) : `${'😀'.repeat(80)}x`,
    lastName: 'é'.repeat(80),
    company: index === 3 ? 'y'.repeat(121) : null,
    email: index === 4 ? 'e'.repeat(300) : '',
    clientReference: index === 5 ? 'r'.repeat(129) : 'r',
  }));
  const refused = { number: 'nobody', firstName: 'x'.repeat(100) };
  const answer = await send([...rows, refused]);
  expect(answer.body).toEqual({
    created: 7,
    updated: 0,
    errors: [{ index: 7, error: expect.any(String) }],
    truncations: [
      { field: 'firstName', maxLength: 80, count: 6, exampleRows: [1, 2, 3, 4, 5] },
      { field: 'company', maxLength: 120, count: 1, exampleRows: [3] },
      { field: 'email', maxLength: 256, count: 1, exampleRows: [4] },
      { field: 'clientReference', maxLength: 128, count: 1, exampleRows: [5] },
    ],
  });
  expect(await found(numbers[1]!)).toMatchObject({ firstName: '😀'.repeat(80), lastName: 'é'.repeat(80) });
  expect((await found(numbers[4]!)).email).toBe('e'.repeat(256));
});

test('a thousand rows, half of them known, are saved; another workspace has none of it', async () => {
  const [mine, other] = [await workspace(), await workspace()];
  const numbers = newNumbers(1000);
  const rows = numbers.map((number, index) => ({
    number,
    firstName: `First ${index}`,
    email: `${index}@example.com`,
  }));
  await send([{ number: numbers[7], firstName: 'theirs' }], other.key);
  expect((await send(rows.slice(0, 500), mine.key)).body).toMatchObject({ created: 500, updated: 0 });
  const renamed = rows.map((row) => ({ ...row, firstName: `Renamed ${row.email}` }));
  expect((await send(renamed, mine.key)).body).toEqual({
    created: 500,
    updated: 500,
    errors: [],
    truncations: [],
  });
  expect(await found(numbers[7]!, mine.key)).toMatchObject({ firstName: 'Renamed 7@example.com' });
  expect((await api.request('GET', '/v2/contacts?search=first', { key: mine.key })).body.data).toEqual([]);
  expect(await listed(other.key)).toMatchObject([{ firstName: 'theirs' }]);
});

test('8 MiB of rows are read, and no more', async () => {
  const rows = (bytes: number) => {
    const body = JSON.stringify({ contacts: [{ number: newNumber(), company: 'x' }] });
    return body.replace('"x"', `"${'x'.repeat(bytes - body.length + 1)}"`);
  };
  const post = (body: string) => {
    const headers = { 'content-type': 'application/json' };
    return api.request('POST', '/v2/contacts/batch', { key: own.key, body, headers });
  };
  const answer = await post(rows(8 * 1024 * 1024));
  expect(answer.body.truncations).toEqual([{ field: 'company', maxLength: 120, count: 1, exampleRows: [0] }]);
  expect((await post(rows(8 * 1024 * 1024 + 1))).status).toBe(413);
});

test('batches that create the same contacts at once: each is done whole or not at all', async () => {
  const mine = await workspace();
  const numbers = newNumbers(200);
  const batches = Array.from({ length: 8 }, (_, batch) => {
    const ordered = batch % 2 === 0 ? numbers : numbers.toReversed();
    return ordered.map((number) => ({ number, [batch < 4 ? 'firstName' : 'lastName']: `batch ${batch}` }));
  });
  const answers = await Promise.all(batches.map((rows) => send(rows, mine.key)));
  const done = answers.filter(({ status }) => status === 200);
  for (const { status, body } of answers)
    if (status !== 200)
      expect([status, body.type]).toEqual([409, expect.stringMatching(/contacts_conflict$/)]);
  expect(done.map(({ body }) => body.created).filter((created) => created > 0)).toEqual([200]);
  const contacts = await listed(mine.key);
  expect(contacts.length).toBe(200);
  // The batches run as a whole, one after another, so all contacts have the values of one batch.
  expect(new Set(contacts.map((one: any) => `${one.firstName} ${one.lastName}`)).size).toBe(1);
  const again = await send(batches[0]!, mine.key);
  expect(again.body).toMatchObject({ created: 0, updated: 200 });
});

test('batches that share known contacts, in any order, wait for each other and all succeed', async () => {
  const mine = await workspace();
  const numbers = newNumbers(100);
  await send(
    numbers.map((number) => ({ number })),
    mine.key,
  );
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, batch) => {
      const ordered = batch % 2 === 0 ? numbers : numbers.toReversed();
      return send(
        ordered.map((number) => ({ number, company: `company ${batch}` })),
        mine.key,
      );
    }),
  );
  expect(answers.map(({ status, body }) => [status, body.updated])).toEqual(answers.map(() => [200, 100]));
  expect(new Set((await listed(mine.key)).map(({ company }: any) => company)).size).toBe(1);
});

test('a repeated batch with its Idempotency-Key is answered again, and done once', async () => {
  const mine = await workspace();
  const rows = newNumbers(3).map((number) => ({ number }));
  const request = () =>
    api.request('POST', '/v2/contacts/batch', {
      key: mine.key,
      headers: { 'idempotency-key': 'one-batch' },
      body: { contacts: rows },
    });
  const [first, again] = [await request(), await request()];
  expect(first.body).toMatchObject({ created: 3, updated: 0 });
  expect([again.status, again.body]).toEqual([200, first.body]);
  expect(again.headers['idempotent-replayed']).toBe('true');
});

test('a batch that fails at its end leaves nothing behind', async () => {
  const mine = await workspace();
  await query(`CREATE TRIGGER refuse_counts BEFORE INSERT ON contact_counts FOR EACH ROW
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'`);
  try {
    const answer = await send(
      newNumbers(10).map((number) => ({ number, firstName: 'Ada' })),
      mine.key,
    );
    expect(answer.status).toBe(500);
  } finally {
    await query('DROP TRIGGER refuse_counts');
  }
  expect(await listed(mine.key)).toEqual([]);
  expect((await api.request('GET', '/v2/contacts?search=ada', { key: mine.key })).body.data).toEqual([]);
});
