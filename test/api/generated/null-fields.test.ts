import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../../api/endpoint.ts';
import { nullRules } from '../../../shared/schemas/fields.ts';
import type { Schema } from '../../support/api/description.ts';
import { type Field, fieldsOf, withValue } from '../../support/api/fields.ts';
import {
  ask,
  bodySchemaOf,
  callOn,
  description,
  operations,
  type Params,
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

const { resolve } = description;
const changing = operations.filter(({ endpoint }) => endpoint.method === 'patch' && bodySchemaOf(endpoint));

/** Returns the top-level fields of the change, and the nested fields that have a rule of their own for null. */
function changedFields(endpoint: Endpoint): Field[] {
  return fieldsOf(resolve, bodySchemaOf(endpoint)!).filter(({ schema, steps }) => {
    const words = describe(schema);
    return steps.length === 1 || words.includes('Left out: unchanged');
  });
}

const describe = (schema: Schema): string =>
  String(schema['description'] ?? resolve(schema)['description'] ?? '');

/** A change that gives a value to each field that null would clear. */
const filled: Record<string, (params: Params) => object> = {
  updateWebhook: () => ({
    description: 'A description',
    autoDisableAfterMinutes: 30,
    atRiskAlertPercent: 50,
    autoDisableExempt: true,
  }),
  updateApiKey: () => ({
    name: 'A name',
    limits: { dailyParts: 5, monthlyParts: 6 },
    apiVersion: '2026-11-01',
  }),
  updateContact: () => ({
    firstName: 'Ada',
    lastName: 'L',
    company: 'C',
    email: 'a@example.com',
    clientReference: 'r',
  }),
};

const valueAt = (record: any, { steps }: Field) => steps.reduce((at, step) => at?.[step], record) ?? null;

test.each(changing)('$name does with null what the reference says of each field', async ({ endpoint }) => {
  const { params, body: fresh } = await callOn(api, own, endpoint);
  const untouched = (await ask(api, endpoint, { params, body: {} }, own.key)).body;
  const before = await ask(api, endpoint, { params, body: filled[endpoint.id]?.(params) ?? fresh! }, own.key);
  expect([before.status, before.body]).toEqual([200, expect.anything()]);
  for (const field of changedFields(endpoint)) {
    const words = describe(field.schema);
    const rules = Object.entries(nullRules).filter(([, rule]) =>
      words.endsWith(`Left out: unchanged; ${rule}`),
    );
    expect([field.name, words, rules.length]).toEqual([field.name, words, 1]);
    const [[rule]] = rules as [[keyof typeof nullRules, string]];
    const { status, body } = await ask(
      api,
      endpoint,
      { params, body: withValue(resolve, {}, field, null) },
      own.key,
    );
    if (rule === 'refused')
      expect([status, body.errors]).toEqual([400, { [field.name]: ['must not be null'] }]);
    else {
      expect([field.name, status]).toEqual([field.name, 200]);
      const expected = { stays: before.body, default: untouched, clears: {} }[rule];
      expect([field.name, valueAt(body, field)]).toEqual([field.name, valueAt(expected, field)]);
    }
  }
});

test('every operation that changes a record is tried', () => {
  expect(changing.map(({ endpoint }) => endpoint.id)).toEqual(
    operations.filter(({ endpoint }) => endpoint.method === 'patch').map(({ endpoint }) => endpoint.id),
  );
});
