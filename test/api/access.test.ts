import { beforeAll, expect, test } from 'vitest';
import { endpoints } from '../../api/routes/index.ts';
import { now } from '../../shared/clock.ts';
import * as apiKeys from '../../shared/domain/api-keys.ts';
import { type IdPrefix, newId } from '../../shared/formats/ids.ts';
import { scopes } from '../../shared/schemas/scopes.ts';
import { useDatabase } from '../support/database.ts';
import { workspace } from '../support/factory.ts';
import { newEmail, sendEmail } from '../support/new-email.ts';
import { type Answer, type Client, startApi } from '../support/start-api.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let other: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  api = await startApi();
  [own, other] = [await workspace(), await workspace()];
});

const operations = endpoints.map((endpoint) => ({ name: `${endpoint.method} ${endpoint.path}`, endpoint }));
const withId = operations.filter(({ endpoint }) => endpoint.path.includes('{id}'));

/** A body that the operation takes, so that a refusal is not for the body. */
const bodies: Record<string, () => object> = {
  sendEmail: () => newEmail(own),
  createWebhook: () => ({ url: 'https://example.com/hook', events: ['email.sent'] }),
};

/** Makes a record of each kind that a path can name. */
const makers: Record<string, (caller: typeof own) => Promise<string>> = {
  email: async (caller) => {
    const scheduledAt = new Date(now().getTime() + 3_600_000).toISOString();
    return (await sendEmail(api, caller, { scheduledAt })).id;
  },
  webhooks: async ({ key }) =>
    (await api.request('POST', '/v2/webhooks', { key, body: bodies['createWebhook']!() })).body.id,
};

const prefixes: Record<string, IdPrefix> = { email: 'email', webhooks: 'webhook' };

function call({ endpoint }: (typeof operations)[number], key?: string, id?: string): Promise<Answer> {
  const path = endpoint.path.replace('{id}', id ?? newId(prefixOf(endpoint.path), now()));
  const body = bodies[endpoint.id]?.();
  return api.request(endpoint.method.toUpperCase(), path, {
    ...(key !== undefined && { key }),
    ...(body && { body }),
  });
}

const kindOf = (path: string) => path.split('/')[2]!;
const prefixOf = (path: string): IdPrefix => prefixes[kindOf(path)] ?? 'email';

test.each(operations)('$name needs a key that is known', async (operation) => {
  const unknown = apiKeys.newKey('api_key');
  for (const key of [undefined, unknown, `${unknown}0`, 'msg_short', `${own.key.slice(0, -1)}!`]) {
    const { status, body, headers } = await call(operation, key);
    expect(status).toBe(401);
    expect(body.type).toBe(`${api.url}/problems/unauthenticated`);
    expect(headers['www-authenticate']).toBe('Bearer');
  }
});

test.each(operations)('$name is refused to a key that lacks its scope, which is named', async (operation) => {
  for (const missing of operation.endpoint.scopes) {
    const others = scopes.filter((scope) => scope !== missing);
    const { key } = await apiKeys.issue(own.workspaceId, { scopes: others });
    const { status, body } = await call(operation, key);
    expect(status).toBe(403);
    expect(body.type).toBe(`${api.url}/problems/forbidden`);
    expect(body.detail).toContain(missing);
  }
});

test.each(operations)('$name is refused to a key that has expired', async (operation) => {
  const expired = await apiKeys.issue(own.workspaceId, { expiresAt: new Date(now().getTime() - 1) });
  expect((await call(operation, expired.key)).status).toBe(401);
});

test.each(withId)(
  '$name answers an unknown, a malformed and a foreign id alike with 404',
  async (operation) => {
    const { path } = operation.endpoint;
    const prefix = prefixOf(path);
    const foreign = await makers[kindOf(path)]!(other);
    const known = await makers[kindOf(path)]!(own);
    const suffix = known.slice(prefix.length + 1);
    const ids = [
      foreign,
      newId(prefix, now()),
      'x',
      '%20',
      '0',
      suffix,
      known.toUpperCase(),
      `${known}0`,
      known.slice(0, -1),
      `${prefix}_8${suffix.slice(1)}`,
      `event_${suffix}`,
      `${known}%00`,
      `${known}%0a`,
    ];
    const refusals = new Set<string>();
    for (const id of ids) {
      const { status, body } = await call(operation, own.key, id);
      expect([id, status]).toEqual([id, 404]);
      refusals.add(JSON.stringify({ ...body, requestId: '' }));
    }
    expect(refusals.size).toBe(1);
    expect(JSON.parse([...refusals][0]!).type).toBe(`${api.url}/problems/not_found`);
    // It was the id that was wrong: the workspace's own is found, and the other one's still there.
    expect((await call(operation, own.key, known)).status).toBeLessThan(300);
    expect((await call(operation, other.key, foreign)).status).toBeLessThan(300);
  },
);
