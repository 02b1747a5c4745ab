// @slow: it sends hundreds of queries to every listing.
import { beforeAll, expect, test } from 'vitest';
import { endpoints } from '../../../api/routes/index.ts';
import { codeOf } from '../../support/api/contract.ts';
import type { Schema } from '../../support/api/description.ts';
import { exampleOf, typesOf, variantsOf } from '../../support/api/fields.ts';
import {
  ask,
  type Call,
  callOn,
  description,
  operations,
  type Parameter,
  parametersOf,
  successesOf,
} from '../../support/api/operations.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import type { Own } from '../../support/data/records.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Own;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const { resolve, faultsOfSent } = description;
// Calls that only read: one call serves for all of its tries.
const withQuery = operations.filter(({ endpoint }) => parametersOf(endpoint, 'query').length > 0);

/** Percent-encoded, as it goes into the address. */
const texts = ['', '0', '-1', 'nothing', '__proto__', '%5B%5D'];
const close: Record<string, string[]> = {
  integer: ['01', '+1', '%2B1', '1.5', '1e2', '%201', '2147483648', '99999999999999999999', 'null'],
  boolean: ['1', 'TRUE', 'null', 'on'],
  array: [',', 'nothing,nothing'],
  string: [
    'constructor',
    "'%20OR%201=1%20--%20",
    '%25',
    '_',
    '%5C',
    '2027-02-30T10:00:00Z',
    '2027-02-20T10:00:00',
    '2027-02-20T10:00:00%2B01:00',
    '9999-12-31T23:59:59Z',
    '0000-01-01T00:00:00Z',
  ],
};
const neverTexts = ['%00', 'a%00b', '%FF', '%', '%E0%A4%A', '%ED%A0%BD'];

function textsFor(schema: Schema): string[] {
  const kinds = [...typesOf(resolve, schema)].flatMap((type) => close[type] ?? []);
  const limits = variantsOf(resolve, schema).flatMap(({ minimum, maximum, maxLength, maxItems, items }) => [
    ...(minimum === undefined ? [] : [`${minimum - 1}`]),
    ...(maximum === undefined ? [] : [`${maximum + 1}`]),
    ...(maxLength === undefined ? [] : [tooLong(maxLength)]),
    ...(maxItems === undefined
      ? []
      : [
          Array(maxItems + 1)
            .fill(exampleOf(resolve, items))
            .join(),
        ]),
  ]);
  return [...texts, ...kinds, ...limits];
}

/** Returns characters of two UTF-16 units, where the address has room, because the limit counts code points. */
function tooLong(maxLength: number): string {
  return maxLength < 600 ? encodeURIComponent('😀'.repeat(maxLength + 1)) : 'x'.repeat(maxLength + 1);
}

/** Returns the value that the text stands for, to be checked against the schema of the parameter. */
function meant(schema: Schema, encoded: string): unknown {
  const text = decodeURIComponent(encoded.replaceAll('+', ' '));
  const types = typesOf(resolve, schema);
  if (types.has('array')) return text.split(',').filter(Boolean);
  if (types.has('integer') && /^(0|-?[1-9][0-9]*)$/.test(text)) return Number(text);
  if (types.has('boolean') && /^(true|false)$/.test(text)) return text === 'true';
  return text;
}

// Shows A15
test.each(withQuery)(
  '$name refuses by its name each parameter that is not as described, and fails at none',
  async ({ endpoint }) => {
    const call = await callOn(api, own, endpoint);
    const faults: string[] = [];
    const refuse = async (name: string, query: string) => {
      const { status, body } = await ask(api, endpoint, { ...call, query }, own.key);
      const names = Object.keys(body.errors ?? {});
      const isNamed = names.length > 0 && names.every((field) => field.replace(/\[\d+\]$/, '') === name);
      if (status !== 400 || codeOf(body) !== 'validation_failed' || !isNamed)
        faults.push(
          `?${query.slice(0, 200)} is answered with ${status} ${JSON.stringify(body).slice(0, 300)}`,
        );
    };
    const tryParameter = async ({ name, schema }: Parameter) => {
      for (const text of neverTexts) await refuse(name, `${name}=${text}`);
      for (const text of textsFor(schema)) {
        const query = `${name}=${text}`;
        if (faultsOfSent(schema, meant(schema, text)).length > 0) await refuse(name, query);
        else {
          const { status } = await ask(api, endpoint, { ...call, query }, own.key);
          if (status === 500) faults.push(`?${query} is answered with ${status}`);
        }
      }
      const example = encodeURIComponent(String(exampleOf(resolve, schema)));
      if (!typesOf(resolve, schema).has('array')) await refuse(name, `${name}=${example}&${name}=${example}`);
    };
    // All parameters at once, because most of the time is spent waiting for the database.
    await Promise.all(parametersOf(endpoint, 'query').map(tryParameter));
    expect(faults).toEqual([]);
  },
);

// Shows A16
test.each(operations)('$name refuses by its name a parameter that it does not know', async ({ endpoint }) => {
  const call: Call = await callOn(api, own, endpoint);
  for (const name of [
    'unknown',
    '__proto__',
    '__proto__[x]',
    'limit[]',
    'limits',
    '%FF',
    'a'.repeat(2_000),
  ]) {
    const query = call.query === undefined ? `${name}=1` : `${call.query}&${name}=1`;
    const { status, body } = await ask(api, endpoint, { ...call, query }, own.key);
    expect([status, Object.keys(body.errors ?? {})], `?${query} ${JSON.stringify(body)}`).toEqual([
      400,
      [name],
    ]);
  }
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  const query = call.query === undefined ? '&&' : `${call.query}&&`;
  const { status } = await ask(api, endpoint, { ...call, query }, own.key);
  expect(successesOf(endpoint)).toContain(status);
});

test('every operation with a query is tried', () => {
  expect(withQuery.map(({ endpoint }) => endpoint.id)).toEqual(
    endpoints.filter(({ query }) => query).map(({ id }) => id),
  );
});
