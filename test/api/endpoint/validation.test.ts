import { expect, test } from 'vitest';
import { goodKey, startSmallApi } from './small-api.ts';

const api = await startSmallApi();
const valid = { name: 'a', weightGrams: 1 };

async function errorsOf(change: object): Promise<Record<string, string[]> | undefined> {
  return (await api.call('POST', '/v2/parcels', { body: { ...valid, ...change } })).body.errors;
}

test('all that is wrong is told at once, by path', async () => {
  const body = {
    name: '',
    weightGrams: '5',
    address: { city: 7 },
    tags: ['a', null],
    rows: [{ email: 'a@example.com' }, {}, { email: 'nobody' }],
    kind: 'bag',
    leavesAt: 'tomorrow',
  };
  const { status, body: answer } = await api.call('POST', '/v2/parcels', { body });
  expect(status).toBe(400);
  expect(answer.errors).toEqual({
    name: ['must not be empty'],
    weightGrams: ['must be a number'],
    'address.city': ['must be a string'],
    'tags[1]': ['must not be null'],
    'rows[1].email': ['is required'],
    'rows[2].email': ['must be a valid email'],
    kind: ['must be one of box, tube'],
    leavesAt: ['must be a date and time with an offset, as in RFC 3339'],
  });
  expect(answer.detail).toBe('name must not be empty.');
});

test('one fault is told in detail', async () => {
  const { body } = await api.call('POST', '/v2/parcels', { body: { ...valid, weightGrams: 1.5 } });
  expect(body.detail).toBe('weightGrams must be a whole number.');
});

test.each<[string, unknown]>([
  ['a string', '1'],
  ['a boolean', true],
  ['null', null],
  ['an array', [1]],
  ['an object', {}],
  ['2^31', 2 ** 31],
  ['0', 0],
  ['a fraction', 0.5],
])('a number field does not take %s', async (_name, weightGrams) => {
  expect(Object.keys((await errorsOf({ weightGrams })) ?? {})).toEqual(['weightGrams']);
});

// Shows A18
test('2^31 - 1 fits', async () => {
  expect(await errorsOf({ weightGrams: 2 ** 31 - 1 })).toBeUndefined();
});

test.each<[string, unknown]>([
  ['a number', 0],
  ['a boolean', true],
  ['null', null],
  ['an array', ['a']],
  ['an object', { toString: 'a' }],
])('a text field does not take %s', async (_name, name) => {
  expect(Object.keys((await errorsOf({ name })) ?? {})).toEqual(['name']);
});

test('text is counted in code points', async () => {
  expect(await errorsOf({ name: '😀'.repeat(10) })).toBeUndefined();
  expect(await errorsOf({ name: '😀'.repeat(11) })).toEqual({ name: ['must be at most 10 characters'] });
  expect(await errorsOf({ name: 'é'.repeat(10) })).toBeUndefined();
});

test.each([0x00, 0x01, 0x08, 0x0b, 0x0c, 0x0d, 0x1b, 0x1f])(
  'control character %i is refused in a line',
  async (code) => {
    expect(await errorsOf({ name: `a${String.fromCharCode(code)}b` })).toHaveProperty('name');
  },
);

test('tab and newline pass in a line, and all but NUL in longer text', async () => {
  expect(await errorsOf({ name: 'a\tb\nc' })).toBeUndefined();
  expect(await errorsOf({ note: 'a\r\n\u001b' })).toBeUndefined();
  expect(await errorsOf({ note: 'a\0' })).toHaveProperty('note');
});

test('half of a surrogate pair is refused, which no database could keep', async () => {
  for (const half of ['\\ud83d', '\\ude00'])
    for (const field of ['name', 'note']) {
      const { body } = await api.call('POST', '/v2/parcels', {
        body: `{"name":"a","weightGrams":1,"${field}":"x${half}"}`,
      });
      expect(body.errors).toHaveProperty(field);
    }
});

test('unknown fields are ignored, at every level', async () => {
  const { status, body } = await api.call('POST', '/v2/parcels', {
    body: { ...valid, id: 'mine', workspaceId: 'other', address: { city: 'Bath', country: 'GB' } },
  });
  expect(status).toBe(201);
  expect(body.seen).toEqual({ ...valid, address: { city: 'Bath' } });
});

// Shows A16
test('keys that name the prototype are data or nothing, and reach no prototype', async () => {
  const poison = '{"polluted":true}';
  for (const key of ['__proto__', 'constructor', 'prototype', '\\u005f_proto__']) {
    const body = `{"name":"a","weightGrams":1,"${key}":${poison},"address":{"city":"Bath","${key}":${poison}},"extra":{"${key}":${poison},"deep":{"${key}":${poison}}}}`;
    const answer = await api.call('POST', '/v2/parcels', { body });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body.seen)).toEqual(['name', 'weightGrams', 'address', 'extra']);
    expect(answer.body.seen.address).toEqual({ city: 'Bath' });
  }
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(await errorsOf(JSON.parse('{"__proto__":{"name":1}}'))).toBeUndefined();
});

test('a time takes any offset and becomes UTC', async () => {
  for (const leavesAt of ['2026-11-20T10:00:00+05:30', '2026-11-20t04:30:00.000z', '2026-11-20T04:30:00Z'])
    expect((await api.call('POST', '/v2/parcels', { body: { ...valid, leavesAt } })).body.seen.leavesAt).toBe(
      '2026-11-20T04:30:00.000Z',
    );
  for (const leavesAt of [
    '2026-11-20T10:00:00',
    '2026-02-30T10:00:00Z',
    '2026-11-20',
    '2026-11-20T10:00:60Z',
    0,
  ])
    expect(await errorsOf({ leavesAt })).toHaveProperty('leavesAt');
});

const seen = async (query: string) => (await api.call('GET', `/v2/parcels?${query}`)).body;

test('query parameters are read as what they stand for', async () => {
  const { seen: values } = await seen('limit=7&types=a&types=b,c&&cursor=x%2By+z&');
  expect(values).toEqual({ limit: 7, types: ['a', 'b', 'c'], cursor: 'x+y z' });
  expect((await seen('')).seen).toEqual({ limit: 50 });
});

test.each([
  ['limit=0', 'limit'],
  ['limit=201', 'limit'],
  ['limit=1e2', 'limit'],
  ['limit=01', 'limit'],
  ['limit=+1', 'limit'],
  ['limit=', 'limit'],
  ['limit=9999999999', 'limit'],
  ['limit=1&limit=1', 'limit'],
  ['cursor=%ff', 'cursor'],
  ['cursor=%', 'cursor'],
  ['cursor=%00', 'cursor'],
  ['types=a,b,c,d,e,f', 'types'],
  ['since=yesterday', 'since'],
])('?%s is refused and named', async (query, field) => {
  const { status, errors } = await seen(query);
  expect([status, Object.keys(errors)]).toEqual([400, [field]]);
});

test.each([
  ['type=a', 'type'],
  ['__proto__=1', '__proto__'],
  ['%FF=1', '%FF'],
  ['a[b]=1&a[b]=2', 'a[b]'],
  ['=1', ''],
])('?%s is no parameter, and is refused by its name', async (query, name) => {
  const { status, errors } = await seen(query);
  expect([status, Object.keys(errors)]).toEqual([400, [name]]);
  expect(errors[name][0]).toContain('is not a query parameter of this operation: the name must be one of ');
});

test('the parameters that there are, and the values of an enum, are listed with the nearest first', async () => {
  expect((await seen('type=a')).errors.type[0]).toMatch(/one of types, \w+, \w+, \w+$/);
  expect(await errorsOf({ kind: 'tubes' })).toEqual({ kind: ['must be one of tube, box'] });
});

test('an operation without a query takes no parameter', async () => {
  const { status, body } = await api.call('POST', '/v2/parcels?limit=1', { body: valid });
  expect([status, body.errors]).toEqual([
    400,
    { limit: ['is unknown: this operation has no query parameters'] },
  ]);
  expect((await api.call('POST', '/v2/parcels?', { body: valid })).status).toBe(201);
});

test.each<[object, string, string]>([
  [{ weight_grams: 5 }, 'weight_grams', 'weightGrams'],
  [{ Name: 'a' }, 'Name', 'name'],
  [{ weightGram: 5 }, 'weightGram', 'weightGrams'],
  [{ leaveAts: '2026-11-20T04:30:00Z' }, 'leaveAts', 'leavesAt'],
  [{ address: { city: 'Bath', 'ci-ty': 'Bath' } }, 'address.ci-ty', 'city'],
  [{ rows: [{ email: 'a@example.com' }, { email: 'b@example.com', emial: 'c' }] }, 'rows[1].emial', 'email'],
])('%j has a field that is nearly one, which is asked about', async (change, field, meant) => {
  expect(await errorsOf(change)).toEqual({ [field]: [`is not a field; did you mean ${meant}?`] });
});

test('short names, names that are further off, those of the record and those in free objects are ignored', async () => {
  for (const change of [
    { not: 'a' },
    { kindOf3: 'box', weightKilos: 1 },
    { seem: 1, seen: 1 },
    { extra: { weight_grams: 1 } },
  ])
    expect([change, await errorsOf(change)]).toEqual([change, undefined]);
});

test('all parts of a request are checked before it is refused', async () => {
  const { body } = await api.call('GET', '/v2/parcels?limit=x&since=y', { key: goodKey });
  expect(Object.keys(body.errors)).toEqual(['limit', 'since']);
});
