// @slow: it sends thousands of bodies to every operation.
import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../../api/endpoint.ts';
import { misnamedIn } from '../../../api/known-fields.ts';
import { endpoints } from '../../../api/routes/index.ts';
import * as callers from '../../../shared/domain/api-keys/callers.ts';
import type { Caller } from '../../../shared/schemas/scopes.ts';
import { badValuesFor, type Tried } from '../../support/api/bad-values.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Field, fieldsOf, typesOf, variantsOf, withValue } from '../../support/api/fields.ts';
import {
  ask,
  bodySchemaOf,
  callOn,
  description,
  operations,
  type Params,
  paramsOfNobody,
  prefixOf,
  successesOf,
  undo,
} from '../../support/api/operations.ts';
import { type Refusal, refusalInProcess } from '../../support/api/refusal-in-process.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { effects, type Own } from '../../support/data/records.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Own;
let caller: Caller;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  caller = (await callers.authenticate(own.key))!;
});

const { resolve, faultsOfSent } = description;
const withBody = operations.filter(({ endpoint }) => bodySchemaOf(endpoint));

async function send(endpoint: Endpoint, params: Params, body: string): Promise<Answer> {
  const answer = await ask(api, endpoint, { params, body }, own.key);
  if (answer.status < 300) await undo(api, own, answer);
  return answer;
}

/** Returns the text of a body that the operation accepts, but with this value in this field. */
async function bodyWith(endpoint: Endpoint, params: Params, field: Field, { value, spelling }: Tried) {
  const { body } = await callOn(api, own, endpoint, params);
  const changed = withValue(resolve, body!, field, spelling === undefined ? value : '<spelled>');
  const text = JSON.stringify(changed);
  return spelling === undefined ? text : text.replace('"<spelled>"', spelling);
}

const toldBy = ({ status, body }: Refusal) => ({ status, code: codeOf(body), errors: body.errors });

/**
 * Returns the answer to this body. The same functions refuse a wrong shape in every field, so most bodies are checked
 * in this process, without a request. Where there is a request too, its answer must be the same.
 */
async function answerTo(endpoint: Endpoint, params: Params, text: string, isSent: boolean): Promise<Refusal> {
  const refusal = await refusalInProcess(endpoint, caller, params, text);
  if (refusal && !isSent) return refusal;
  const answer = await send(endpoint, params, text);
  if (refusal) expect(toldBy(answer)).toEqual(toldBy(refusal));
  return answer;
}

/**
 * Returns whether the answer names this field as the only fault. For a list or an object the answer may name a member.
 * The answer may also name other faults of the object that holds the field, whose example only this test knows.
 */
function isRefused({ status, body }: Refusal, { name, schema }: Field, { value }: Tried): boolean {
  if (status !== 400 || codeOf(body) !== 'validation_failed') return false;
  const kind = Array.isArray(value) ? 'array' : typeof value;
  const mayBeMember = value !== null && kind !== 'string' && typesOf(resolve, schema).has(kind);
  const names = Object.keys(body.errors ?? {});
  const isOfField = (named: string) =>
    named === name || (mayBeMember && (named.startsWith(`${name}.`) || named.startsWith(`${name}[`)));
  const [holder] = name.split('.') as [string];
  return names.some(isOfField) && names.every((named) => isOfField(named) || named.startsWith(`${holder}.`));
}

/** Returns the effect of text that no database could store, where the field does not refuse it. */
function effectOf(endpoint: Endpoint, { name, schema, steps }: Field): string | undefined {
  const isInList = typeof steps.at(-1) === 'number';
  const isAnyId =
    isInList && prefixOf(schema) !== null && variantsOf(resolve, schema)[0]!['pattern'] === undefined;
  return isAnyId ? 'an id that no record has is ignored' : effects[endpoint.id]?.[name];
}

/** Returns the fault in how the operation handles the value, or null. */
function faultOf(endpoint: Endpoint, field: Field, one: Tried, answer: Refusal): string | null {
  const { status, body } = answer;
  const said = `${field.name}, ${one.label}: ${status} ${JSON.stringify(body).slice(0, 300)}`;
  if (status === 500) return said;
  const effect = one.isNeverText ? effectOf(endpoint, field) : undefined;
  const isAllowed = faultsOfSent(field.schema, one.value).length === 0 && !one.isNeverText;
  if (effect !== undefined) return isRefused(answer, field, one) ? `${said}, and not: ${effect}` : null;
  if (!isAllowed) return isRefused(answer, field, one) ? null : said;
  const isTooLong = /at most \d+ char/.test(JSON.stringify(body.errors?.[field.name] ?? ''));
  return one.isLongest && isTooLong ? said : null;
}

// Shows A15, A18
test.each(withBody)(
  '$name refuses by its name each field that is not as described, and fails at none',
  async ({ endpoint }) => {
    const { params } = await callOn(api, own, endpoint);
    // For each operation, one value of each kind and one value of each field go out in a real request.
    const isSent = firstOfEach();
    const tryField = async (field: Field) => {
      const faults: (string | null)[] = [];
      for (const one of badValuesFor(resolve, field.schema)) {
        const text = await bodyWith(endpoint, params, field, one);
        const answer = await answerTo(endpoint, params, text, isSent(field.name, one.label));
        faults.push(faultOf(endpoint, field, one, answer));
      }
      return faults;
    };
    // All fields at once, because most of the time is spent waiting for the database.
    const faults = (await Promise.all(fieldsOf(resolve, bodySchemaOf(endpoint)!).map(tryField))).flat();
    expect(faults.filter((fault) => fault !== null)).toEqual([]);
    expect(faults.length).toBeGreaterThan(0);
    expect((await api.request('GET', '/health/live')).status).toBe(200);
  },
);

/** Returns a function that says whether one of its names is new to it. */
function firstOfEach(): (...names: string[]) => boolean {
  const seen = new Set<string>();
  return (...names) => {
    const isNew = names.some((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    return isNew;
  };
}

const unknownMembers = [
  '"unknownField":1',
  '"__proto__":{"polluted":true}',
  '"constructor":{"prototype":{"polluted":true}}',
  '"prototype":1',
  '"":1',
  '"\\ud83d":"\\u0000"',
];

// Shows A16
test.each(withBody)('$name ignores fields that it does not know, at every level', async ({ endpoint }) => {
  const { params, body } = await callOn(api, own, endpoint);
  // A reviver sees every object of the body, from the inside out.
  const marked = JSON.parse(JSON.stringify(body), (_key, value) =>
    typeof value === 'object' && !Array.isArray(value) && value !== null ? { ...value, '<here>': 1 } : value,
  );
  const text = JSON.stringify(marked).replaceAll('"<here>":1', unknownMembers.join());
  const answer = await send(endpoint, params, text);
  expect(successesOf(endpoint), JSON.stringify(answer.body)).toContain(answer.status);
  expect('polluted' in {}).toBe(false);
});

/** Returns likely misspellings of the field's name that are not names of fields themselves. */
function mistyped({ steps, containers }: Field): string[] {
  const name = String(steps.at(-1));
  const known = Object.keys(containers.at(-1)!['properties']);
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const near = [
    snake,
    name.toUpperCase(),
    ...(name.length > 4 ? [`${name}s`, `${name.slice(0, -1)}xy`] : []),
  ];
  return near.filter((text) => !known.includes(text));
}

test.each(withBody)(
  '$name asks what is meant by a field that is nearly one of its own',
  async ({ endpoint }) => {
    const { params } = await callOn(api, own, endpoint);
    const fields = fieldsOf(resolve, bodySchemaOf(endpoint)!).filter(
      ({ steps }) => typeof steps.at(-1) === 'string',
    );
    const faults: unknown[] = [];
    const isSent = firstOfEach();
    const tryField = async (field: Field) => {
      for (const text of mistyped(field)) {
        const { body } = await callOn(api, own, endpoint, params);
        const steps = [...field.steps.slice(0, -1), text];
        const sent = withValue(resolve, body!, { ...field, steps }, null);
        const answer = await answerTo(endpoint, params, JSON.stringify(sent), isSent(field.name));
        const name = `${field.name.slice(0, -String(field.steps.at(-1)).length)}${text}`;
        const message = `is not a field; did you mean ${field.steps.at(-1)}?`;
        if (answer.status !== 400 || answer.body.errors?.[name]?.[0] !== message)
          faults.push([name, answer.status, answer.body]);
      }
    };
    await Promise.all(fields.map(tryField));
    expect(faults).toEqual([]);
  },
);

test('no field of a record is taken for a mistake where the record is sent back', () => {
  const faults = withBody.flatMap(({ endpoint }) => {
    const paths = [endpoint.path, `${endpoint.path}/{id}`];
    const kin = endpoints.filter(({ path }) => paths.includes(path));
    const names = new Set(kin.flatMap(({ knownFields }) => [...knownFields.ofRecord]));
    return [...names].flatMap((name) =>
      misnamedIn(endpoint.knownFields, { [name]: null }).map(({ meant }) => [endpoint.id, name, meant]),
    );
  });
  expect(faults).toEqual([]);
});

// Shows A15
test.each(operations)('$name takes no body but an object', async ({ endpoint }) => {
  // The body is refused before the record is looked up.
  const params = paramsOfNobody(endpoint);
  for (const body of ['[]', '[{}]', 'null', '1', '"text"', '{', '{"a":1}{', '\u0000', '{"a":\u0001"b"}']) {
    const answer = await send(endpoint, params, body);
    expect([body, answer.status, codeOf(answer.body)]).toEqual([body, 400, 'malformed_json']);
  }
});

test('every operation that takes a body is tried', () => {
  expect(withBody.map(({ endpoint }) => endpoint.id)).toEqual(
    endpoints.filter(({ body }) => body).map(({ id }) => id),
  );
});
