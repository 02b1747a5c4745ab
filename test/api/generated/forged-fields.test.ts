import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { newId } from '../../../shared/formats/ids.ts';
import type { Schema } from '../../support/api/description.ts';
import { type Field, fieldsOf, variantsOf, withValue } from '../../support/api/fields.ts';
import {
  answerSchemaOf,
  ask,
  bodySchemaOf,
  callOn,
  description,
  operations,
  prefixOf,
  successesOf,
  undo,
} from '../../support/api/operations.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import type { Own } from '../../support/data/records.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsOf } from '../../support/database/rows.ts';

useDatabase();

let api: Client;
let own: Own;
let other: Own;
beforeAll(async () => {
  api = await startApi();
  [own, other] = [await workspace(), await workspace()];
});

const { resolve } = description;
const writing = operations.filter(({ endpoint }) => endpoint.method !== 'get' && endpoint.response);

/** Fields of records that no request sets, whatever the record is. */
const everywhere = () => ({
  workspaceId: other.workspaceId,
  workspace_id: other.workspaceId,
  ws: other.workspaceId,
  key_id: other.keyId,
  lineageId: other.keyId,
});

/** Returns a value that the field could have, but does not have. */
function otherThan(value: unknown, schema: Schema): unknown {
  const [variant = {}] = variantsOf(resolve, schema);
  const prefix = prefixOf(variant);
  const choices = [
    ...(variant['enum'] ?? []),
    ...(prefix ? [newId(prefix, now())] : []),
    ...({ integer: [77, 78], boolean: [true, false], array: [['forged']], object: [{ forged: true }] }[
      String(variant['type'])
    ] ?? []),
    ...(variant['format'] === 'date-time' ? ['2001-01-01T00:00:00.000Z'] : []),
    'forged',
  ];
  return choices.find((choice) => JSON.stringify(choice) !== JSON.stringify(value));
}

const valueAt = (record: any, { steps }: Field) => steps.reduce((at, step) => at?.[step], record);

/** Returns fields of the answer that the request does not take: of the record, and of objects that both have. */
function readOnlyFields(answer: Schema, body: Schema | undefined): Field[] {
  const taken = new Set(body ? fieldsOf(resolve, body).map(({ name }) => name) : []);
  const inTaken = ({ steps, name }: Field) =>
    steps.length === 1 || (taken.has(name.slice(0, name.lastIndexOf('.'))) && !name.includes('['));
  return fieldsOf(resolve, answer).filter((field) => !taken.has(field.name) && inTaken(field));
}

// Shows A14
test.each(writing)(
  '$name sets no field but those of its body, whatever else is sent',
  async ({ endpoint }) => {
    const usual = await callOn(api, own, endpoint);
    const plain = await ask(api, endpoint, usual, own.key);
    expect(successesOf(endpoint), JSON.stringify(plain.body)).toContain(plain.status);
    await undo(api, own, plain);

    const before = await rowsOf(other.workspaceId);
    const schema = bodySchemaOf(endpoint);
    const call = await callOn(api, own, endpoint);
    const forged = readOnlyFields(answerSchemaOf(endpoint)!, schema).map((field) => ({
      field,
      value: otherThan(valueAt(plain.body, field), field.schema),
    }));
    expect(forged.length).toBeGreaterThan(0);
    let body: object = { ...everywhere(), ...call.body };
    for (const { field, value } of forged) body = withValue(resolve, body, field, value);
    const answer = await ask(api, endpoint, { ...call, body }, own.key);
    expect(successesOf(endpoint), JSON.stringify(answer.body)).toContain(answer.status);
    const records = [answer.body];
    const address = answer.headers['location'];
    if (address) {
      const read = await api.request('GET', new URL(address).pathname, { key: own.key });
      if (read.status === 200) records.push(read.body);
    }
    for (const record of records)
      for (const { field, value } of forged)
        expect([field.name, valueAt(record, field)]).not.toEqual([field.name, value]);
    expect(await rowsOf(other.workspaceId)).toEqual(before);
  },
);
