import { beforeAll, expect, test } from 'vitest';
import { mostFreeValues } from '../../shared/schemas/fields.ts';
import type { Schema } from '../support/api/description.ts';
import { variantsOf } from '../support/api/fields.ts';
import { ask, bodySchemaOf, callOn, description, operations } from '../support/api/operations.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import type { Own } from '../support/data/records.ts';
import { useDatabase } from '../support/database/database.ts';

useDatabase();

let api: Client;
let own: Own;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const fields = operations.flatMap(({ name, endpoint }) =>
  endpoint.freeForm.map((path) => ({ name, endpoint, path, field: path.join('.').replaceAll('.*', '[0]') })),
);

/** Returns the body with this value at this path; `*` is the first item of a list. */
function withValue(body: object, [name, ...rest]: readonly string[], value: unknown): object {
  if (name === '*' && Array.isArray(body)) return [withValue(body[0], rest, value), ...body.slice(1)];
  const members: Record<string, unknown> = { ...body };
  members[name!] =
    rest.length === 0 ? value : withValue((members[name!] as object | undefined) ?? {}, rest, value);
  return members;
}

// Shows A21
test.each(fields)(
  '$name refuses $field of too many values or bytes under its name',
  async ({ endpoint, path, field }) => {
    const { params, body } = await callOn(api, own, endpoint);
    const refusalOf = async (value: unknown) => {
      const answer = await ask(api, endpoint, { params, body: withValue(body!, path, value) }, own.key);
      return [answer.status, answer.body.errors ?? answer.body.type];
    };
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
    const refused = [400, { [field]: [`must have at most ${mostFreeValues} values`] }];
    expect(await refusalOf(keys(mostFreeValues + 1))).toEqual(refused);
    expect(await refusalOf({ deep: { er: Array(mostFreeValues).fill(0) } })).toEqual(refused);
    expect(await refusalOf(Array(mostFreeValues + 1).fill(0))).toEqual(refused);
    expect(await refusalOf(keys(mostFreeValues))).not.toEqual(refused);
    const large = await refusalOf({ text: 'x'.repeat(1024 * 1024) });
    // The fields of a form have their own limit.
    if (endpoint.bodyLimitBytes <= 1024 * 1024 || endpoint.takesFile)
      expect(large).toEqual([413, `${api.url}/problems/payload_too_large`]);
    else expect(large).toMatchObject([400, { [field]: ['is larger than 1 MiB'] }]);
  },
);

function listsOf(schema: Schema, place: string): [string, Schema][] {
  return variantsOf(description.resolve, schema).flatMap((variant) => [
    ...(variant['items']
      ? [[place, variant] as [string, Schema], ...listsOf(variant['items'], `${place}[]`)]
      : []),
    ...Object.entries<Schema>(variant['properties'] ?? {}).flatMap(([name, member]) =>
      listsOf(member, `${place}.${name}`),
    ),
  ]);
}

// Shows A21
test('every list in a request says how many items it may have, so longer ones are refused unread', () => {
  const lists = operations.flatMap(({ name, endpoint }) => {
    const schema = bodySchemaOf(endpoint);
    return schema ? listsOf(schema, name) : [];
  });
  expect(lists.length).toBeGreaterThan(10);
  const endless = lists.filter(([, schema]) => !(Number(schema['maxItems']) <= 10_000));
  expect(endless.map(([place]) => place)).toEqual([]);
});
