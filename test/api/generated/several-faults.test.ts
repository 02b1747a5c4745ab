import { beforeAll, expect, test } from 'vitest';
import { ask, callOn, operations } from '../../support/api/operations.ts';
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

const listings = operations.filter(({ endpoint }) => 'cursor' in (endpoint.query?.shape ?? {}));

test('listings are found', () => {
  expect(listings.length).toBeGreaterThan(10);
});

test.each(listings)(
  '$name tells of a cursor that is not its own, also beside a limit or a parameter that it refuses',
  async ({ endpoint }) => {
    const call = await callOn(api, own, endpoint);
    const errorsOf = async (query: string) => {
      const { status, body } = await ask(api, endpoint, { ...call, query }, own.key);
      return [status, Object.keys(body.errors ?? {}).toSorted()];
    };
    expect(await errorsOf('cursor=x')).toEqual([400, ['cursor']]);
    expect(await errorsOf('limit=0&cursor=x')).toEqual([400, ['cursor', 'limit']]);
    expect(await errorsOf('cursor=x&limit=1&unknown=1')).toEqual([400, ['cursor', 'unknown']]);
    expect(await errorsOf('limit=0')).toEqual([400, ['limit']]);
  },
);

test.each([
  ['/v2/email', 'recipient=nobody'],
  ['/v2/suppressions', 'number=x'],
  ['/v2/suppressions', 'email=nobody'],
  ['/v2/sms', 'recipient=07400000'],
  ['/v2/sms', 'sender=07400000'],
  ['/v2/conversations', 'number=07400000'],
])('%s?%s tells of the filter beside a limit and a cursor', async (path, filter) => {
  const errorsOf = async (query: string) => {
    const { status, body } = await api.request('GET', `${path}?${query}`, { key: own.key });
    return [status, Object.keys(body.errors ?? {}).toSorted()];
  };
  const [name] = filter.split('=') as [string];
  expect(await errorsOf(filter)).toEqual([400, [name]]);
  expect(await errorsOf(`${filter}&limit=0`)).toEqual([400, [name, 'limit'].toSorted()]);
  expect(await errorsOf(`${filter}&cursor=x`)).toEqual([400, [name, 'cursor'].toSorted()]);
  expect(await errorsOf(`${filter}&limit=0&cursor=x`)).toEqual([400, [name, 'cursor', 'limit'].toSorted()]);
});
