// @slow: it calls every operation with ids of another workspace.
import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../../api/endpoint.ts';
import { now } from '../../../shared/common/clock.ts';
import { type IdPrefix, newId } from '../../../shared/formats/ids.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Field, fieldsOf, typesOf, withValue } from '../../support/api/fields.ts';
import {
  ask,
  bodySchemaOf,
  type Call,
  callOn,
  description,
  makerOf,
  operations,
  type Params,
  parametersOf,
  prefixOf,
  successesOf,
} from '../../support/api/operations.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { awaitedJobs, bodiesWith, makers, type Own, settle } from '../../support/data/records.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsOf } from '../../support/database/rows.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';

useDatabase();

let api: Client;
let own: Own;
let other: Own;
beforeAll(async () => {
  api = await startApi();
  await runWorkers(awaitedJobs);
  [own, other] = [await workspace(), await workspace()];
});

const idsInPath = (endpoint: Endpoint) => parametersOf(endpoint, 'path').filter(({ prefix }) => prefix);
const idsInQuery = (endpoint: Endpoint) => parametersOf(endpoint, 'query').filter(({ prefix }) => prefix);
const stringsOf = (endpoint: Endpoint): Field[] => {
  const schema = bodySchemaOf(endpoint);
  return schema ? fieldsOf(description.resolve, schema) : [];
};
const idsInBody = (endpoint: Endpoint) => stringsOf(endpoint).filter(({ schema }) => prefixOf(schema));

/** Returns the parts of an answer by which a caller can tell two answers apart. */
const told = ({ status, headers, body }: Answer) =>
  JSON.stringify({
    status,
    location: headers['location'],
    ...(status < 400 ? { body } : { ...body, requestId: '' }),
  });

const sentEach = 4;
const withPath = operations.filter(({ endpoint }) => idsInPath(endpoint).length > 0);

// Shows A1
test.each(withPath)(
  '$name answers an unknown, a malformed and another workspace’s id alike with 404, and changes nothing there',
  async (operation) => {
    const { endpoint } = operation;
    const mine = await callOn(api, own, endpoint);
    const theirs = await callOn(api, other, endpoint);
    // The time when work is due (due_at), and whether it has a job (parked), change by themselves.
    const rows = () => rowsOf(other.workspaceId, { withDue: false });
    const before = await rows();
    const refusals = new Map<string, string>();
    const refuse = async (params: Record<string, string>) => {
      const answer = await ask(api, endpoint, { ...mine, params: { ...mine.params, ...params } }, own.key);
      expect([params, answer.status, codeOf(answer.body)]).toEqual([params, 404, 'not_found']);
      refusals.set(told(answer), JSON.stringify(params));
    };
    for (const { name, prefix } of idsInPath(endpoint)) {
      const malformed = malformedOf(prefix!, mine.params[name]!);
      // One place (api/validation.ts) makes all refusals by the declaration, so few malformed ids go out as requests.
      for (const id of malformed)
        expect([id, isTaken(endpoint, { ...mine.params, [name]: id })]).toEqual([id, false]);
      const sent = [theirs.params[name]!, newId(prefix!, now()), ...turnsOf(malformed, operation)];
      await Promise.all(sent.map((id) => refuse({ [name]: id })));
    }
    await refuse(theirs.params);
    expect([...refusals]).toHaveLength(1);
    expect(await rows()).toEqual(before);
    // Only the id was wrong: each workspace still has its own record, and the operation finds it.
    for (const [call, { key }] of [[mine, own] as const, [theirs, other] as const]) {
      const { status, body } = await ask(api, endpoint, call, key);
      expect(successesOf(endpoint), JSON.stringify(body)).toContain(status);
    }
  },
);

// A field that takes neither a list nor an object.
const plainField = (endpoint: Endpoint) =>
  stringsOf(endpoint).find(({ schema }) => {
    const types = typesOf(description.resolve, schema);
    return types.size > 0 && !types.has('array') && !types.has('object');
  });

test.each(withPath.filter(({ endpoint }) => plainField(endpoint)))(
  '$name with a malformed id and a field of the wrong shape is told of the field',
  async ({ endpoint }) => {
    const field = plainField(endpoint)!;
    const { body, params } = await callOn(api, own, endpoint);
    for (const { name } of idsInPath(endpoint)) {
      const wrong = withValue(description.resolve, body ?? {}, field, [[1]]);
      const call = { params: { ...params, [name]: 'a' }, body: wrong };
      const { status, body: told } = await ask(api, endpoint, call, own.key);
      expect([status, Object.keys(told.errors ?? {})]).toEqual([400, [field.name]]);
    }
  },
);

/** Returns whether the declaration takes these parts of a path. Text that cannot be decoded reaches no operation. */
function isTaken({ params }: Endpoint, given: Params): boolean {
  try {
    const decoded = Object.entries(given).map(([name, value]) => [name, decodeURIComponent(value)]);
    return params!.safeParse(Object.fromEntries(decoded)).success;
  } catch {
    return false;
  }
}

/** Returns `sentEach` of the values, others for each operation, so that every value has its turn a few times. */
function turnsOf<Value>(values: readonly Value[], operation: (typeof operations)[number]): Value[] {
  const first = withPath.indexOf(operation) * sentEach;
  return Array.from({ length: sentEach }, (_, index) => values[(first + index) % values.length]!);
}

function malformedOf(prefix: IdPrefix, known: string): string[] {
  const suffix = known.slice(prefix.length + 1);
  return [
    'x',
    '0',
    '%20',
    suffix,
    known.toUpperCase(),
    `${known}0`,
    known.slice(0, -1),
    `${prefix}_8${suffix.slice(1)}`,
    `${prefix === 'event' ? 'email' : 'event'}_${suffix}`,
    `${known}%00`,
    `${known}%0a`,
    `${known}%FF`,
    '__proto__',
    'null',
    `${known},${known}`,
  ];
}

type Place = {
  name: string;
  endpoint: Endpoint;
  prefix: IdPrefix;
  /** Sends a call of this workspace with the id in this place. */
  send: (id: string) => Promise<Answer>;
  /** Whether the answer is about the id, and not about another part of the call. */
  isAbout: (answer: Answer) => boolean;
};

/** Ids in bodies and queries. There an unknown id need not be a 404, but another workspace's must look as unknown. */
const places = operations.flatMap(({ name, endpoint }): Place[] => [
  ...idsInBody(endpoint).map((field) => ({
    name: `${name}, ${field.name} of the body,`,
    endpoint,
    prefix: prefixOf(field.schema)!,
    send: async (id: string) => {
      const { params, body } = await callOn(api, own, endpoint);
      const fitting = (await bodiesWith[endpoint.id]?.[field.name]?.(api, own)) ?? body!;
      return ask(
        api,
        endpoint,
        { params, body: withValue(description.resolve, fitting, field, id) },
        own.key,
      );
    },
    isAbout: ({ body }: Answer) => !body.errors || Object.keys(body.errors).join() === field.name,
  })),
  ...idsInQuery(endpoint).map(({ name: parameter, prefix }) => ({
    name: `${name}?${parameter}=`,
    endpoint,
    prefix: prefix!,
    send: async (id: string) => {
      const call = await callOn(api, own, endpoint);
      return ask(api, endpoint, { ...call, query: `${parameter}=${id}` }, own.key);
    },
    isAbout: ({ body }: Answer) => !body.errors || Object.keys(body.errors).join() === parameter,
  })),
]);

// Shows A1
test.each(places)(
  '$name treats another workspace’s id as one that nobody has, and changes nothing there',
  async ({ endpoint, prefix, send, isAbout }) => {
    const foreign = await makerOf(prefix, `an id of another workspace in ${endpoint.id}`)(api, other, {});
    // The time when work is due (due_at), and whether it has a job (parked), change by themselves.
    const rows = () => rowsOf(other.workspaceId, { withDue: false });
    const before = await rows();
    const answerTo = async (id: string) => {
      const sent = await send(id);
      const { status, headers, body } = sent;
      expect(isAbout(sent), JSON.stringify(body)).toBe(true);
      const text = JSON.stringify({ status, location: headers['location'], body });
      return leavesOf(JSON.parse(text.replaceAll(id, '<the id>').replaceAll(time, '<a time>')));
    };
    const unknown = [await answerTo(newId(prefix, now())), await answerTo(newId(prefix, now()))] as const;
    const answer = await answerTo(foreign);
    // A value that differs between two unknown ids, such as the id of a new record, says nothing about the id.
    for (const [path, value] of unknown[0])
      if (unknown[1].get(path) === value) expect([path, answer.get(path)]).toEqual([path, value]);
    expect([...answer.keys()].toSorted()).toEqual([...unknown[0].keys()].toSorted());
    expect(await rows()).toEqual(before);
  },
);

const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

function leavesOf(value: unknown, path = '', leaves = new Map<string, unknown>()): Map<string, unknown> {
  if (value === null || typeof value !== 'object') return leaves.set(path, value);
  for (const [key, inner] of Object.entries(value)) leavesOf(inner, `${path}/${key}`, leaves);
  return leaves;
}

const reading = operations.filter(({ endpoint }) => endpoint.method === 'get');

/**
 * Makes a call of each reading operation, with the records that it needs, and then a record of every kind in another
 * workspace. These are made last, so they would come first in listings of the newest. Runs once for all operations.
 */
const besideForeign = once(async () => {
  const calls = new Map<string, Call>();
  for (const { endpoint } of reading) calls.set(endpoint.id, await callOn(api, own, endpoint));
  const prefixes = Object.keys(makers) as (keyof typeof makers)[];
  const foreign = await Promise.all(prefixes.map((prefix) => makers[prefix]!(api, other, {})));
  await settle();
  return { calls, foreign };
});

// Shows A1
test.each(reading)('$name shows nothing of another workspace', async ({ endpoint }) => {
  const { calls, foreign } = await besideForeign();
  const answer = await ask(api, endpoint, calls.get(endpoint.id)!, own.key);
  expect(successesOf(endpoint)).toContain(answer.status);
  const shown = JSON.stringify(answer.body);
  for (const text of [other.workspaceId, other.keyId, other.domain, ...foreign])
    expect(shown).not.toContain(text);
});

function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => (made ??= make());
}

const withName = operations.filter(({ endpoint }) =>
  parametersOf(endpoint, 'path').some(({ prefix }) => !prefix),
);

// Shows A6
test.each(withName)(
  '$name changes nothing of another workspace by a name that is the same there, and fails at no name',
  async ({ endpoint }) => {
    const mine = await callOn(api, own, endpoint);
    const theirs = await callOn(api, other, endpoint);
    // The time when work is due (due_at), and whether it has a job (parked), change by themselves.
    const rows = () => rowsOf(other.workspaceId, { withDue: false });
    const before = await rows();
    const params = parametersOf(endpoint, 'path').filter(({ prefix }) => !prefix);
    for (const { name } of params)
      for (const value of [theirs.params[name]!, ...strangeNames]) {
        const call = { ...mine, params: { ...mine.params, [name]: value } };
        expect((await ask(api, endpoint, call, own.key)).status).not.toBe(500);
      }
    expect(await rows()).toEqual(before);
  },
);

const strangeNames = [
  '%00',
  '%0a',
  '%FF',
  '%ED%A0%BD',
  '%20',
  '..%2fx',
  '__proto__',
  "'%20OR%201=1",
  '%25',
  'x'.repeat(5_000),
];

// Shows A2
test('every field of a request that is named as an id says whose ids it takes, and so is tried here', () => {
  const untold = operations.flatMap(({ name, endpoint }) => {
    const inBody = stringsOf(endpoint).filter(({ name: field }) => /(Ids?|Lists?)(\[0\])?$/.test(field));
    const inQuery = parametersOf(endpoint, 'query').filter(({ name: field }) => /Ids?$/.test(field));
    return [...inBody, ...inQuery]
      .filter(({ schema }) => typesOf(description.resolve, schema).has('string') && !prefixOf(schema))
      .map((field) => `${name}: ${field.name}`);
  });
  expect(untold).toEqual([]);
});
