import { beforeAll, expect, test } from 'vitest';
import { endpoints } from '../../../api/routes/index.ts';
import { now } from '../../../shared/common/clock.ts';
import { query, sqlTime } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Scope, scopes } from '../../../shared/schemas/scopes.ts';
import { codeOf } from '../../support/api/contract.ts';
import {
  ask,
  bodyFor,
  type Call,
  callOn,
  operations,
  paramsOfNobody,
  successesOf,
} from '../../support/api/operations.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import {
  bodies,
  bodiesWith,
  effects,
  listed,
  type Own,
  parameters,
  queries,
} from '../../support/data/records.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Own;
let idle: { key: string }[];
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  const expired = await apiKeys.issue(own.workspaceId, { expiresAt: new Date(now().getTime() - 1) });
  const early = await apiKeys.issue(own.workspaceId);
  const tomorrow = sqlTime(new Date(now().getTime() + 86_400_000));
  await query('UPDATE api_keys SET active_from = ? WHERE id = ?', [tomorrow, idToBytes(early.record.id)]);
  idle = [expired, early];
});

type Operation = (typeof operations)[number];

/** Returns a call without an existing record, because it must be refused before the record is looked up. */
async function callOfNobody({ endpoint }: Operation): Promise<Call> {
  const params = paramsOfNobody(endpoint);
  return { params, ...(await bodyFor(own, endpoint)) };
}

const keys = new Map<string, Promise<string>>();

/** Returns a key with these scopes; the same scopes always get the same key. */
function keyWith(held: readonly Scope[]): Promise<string> {
  const name = held.join();
  const issued = keys.get(name) ?? apiKeys.issue(own.workspaceId, { scopes: held }).then(({ key }) => key);
  keys.set(name, issued);
  return issued;
}

test('all that test/support/data/records.ts has is for an operation', () => {
  const ids = operations.map(({ endpoint }) => endpoint.id);
  for (const part of [bodies, bodiesWith, parameters, queries, listed, effects])
    for (const name of Object.keys(part)) expect(ids).toContain(name);
});

test.each(operations)(
  '$name does what it is for with the records and the body of test/support/data/records.ts, and a key with no scope beyond its own',
  async ({ endpoint }) => {
    const call = await callOn(api, own, endpoint);
    const { status, body } = await ask(api, endpoint, call, await keyWith(endpoint.scopes));
    expect(successesOf(endpoint), JSON.stringify(body)).toContain(status);
  },
);

test.each(operations)('$name needs a key that is known', async (operation) => {
  const unknown = apiKeys.newKey('api_key');
  const call = await callOfNobody(operation);
  for (const key of [undefined, unknown, `${unknown}0`, 'msg_short', `${own.key.slice(0, -1)}!`]) {
    const { status, body, headers } = await ask(api, operation.endpoint, call, key);
    expect([status, codeOf(body)]).toEqual([401, 'unauthenticated']);
    expect(headers['www-authenticate']).toBe('Bearer');
  }
});

// Shows A8
test.each(operations)(
  '$name is refused to a key that has expired or is not active yet',
  async (operation) => {
    const call = await callOfNobody(operation);
    for (const { key } of idle) expect((await ask(api, operation.endpoint, call, key)).status).toBe(401);
  },
);

test.each(operations)(
  '$name is refused to a key that lacks a scope of it, which is named',
  async (operation) => {
    const call = await callOfNobody(operation);
    const needed = operation.endpoint.scopes;
    const refusedTo = async (held: readonly Scope[], missing: readonly Scope[]) => {
      const { status, body } = await ask(api, operation.endpoint, call, await keyWith(held));
      expect([status, codeOf(body)]).toEqual([403, 'forbidden']);
      for (const scope of missing) expect(body.detail).toContain(scope);
    };
    expect(needed.length).toBeGreaterThan(0);
    for (const missing of needed)
      await refusedTo(
        scopes.filter((scope) => scope !== missing),
        [missing],
      );
    await refusedTo([], needed);
    await refusedTo(
      scopes.filter((scope) => !needed.includes(scope)),
      needed,
    );
  },
);

const paths = [...Map.groupBy(endpoints, ({ path }) => path)].map(([path, siblings]) => ({
  path,
  declared: new Set(siblings.map(({ method }) => method.toUpperCase())),
}));

// Shows A48
test.each(paths)('$path has no other methods than those of its operations', async ({ path, declared }) => {
  const [operation] = operations.filter(({ endpoint }) => endpoint.path === path);
  const { params } = await callOfNobody(operation!);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name]!);
  const allowed = [...declared].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
  for (const method of methods.filter((name) => !allowed.includes(name)))
    for (const key of [own.key, undefined]) {
      const { status, headers } = await api.request(method, filled, key === undefined ? {} : { key });
      expect([method, status, headers['allow']?.split(', ').toSorted()]).toEqual([
        method,
        405,
        allowed.toSorted(),
      ]);
    }
});
