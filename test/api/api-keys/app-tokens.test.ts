import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';
import { advanceClockTo } from '../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

/** The output of a command. */
async function printed(...args: string[]): Promise<any> {
  const answer = await admin(...args);
  if (answer.code !== 0) throw new Error(answer.printed);
  return answer.printed;
}

const create = (changes: Record<string, string | undefined> = {}) => {
  const options = {
    '--name': 'CRM',
    '--scopes': 'events.read,email.read',
    '--expires-in-days': '30',
    ...changes,
  };
  const given = Object.entries(options).filter(
    (option): option is [string, string] => option[1] !== undefined,
  );
  return printed('app', 'create', own.workspaceId, ...given.flat());
};
const statusOf = async (path: string, key: string) => (await api.request('GET', path, { key })).status;

test('a token of a connected app has its scopes and its end, is shown once, and is kept apart from keys', async () => {
  const [token, key] = await Promise.all([
    create(),
    printed('key', 'create', own.workspaceId, '--expires-in-days', '1'),
  ]);
  expect(token).toStrictEqual({
    id: expect.stringMatching(/^key_/),
    name: 'CRM',
    starts: token.key.slice(0, 6),
    ends: token.key.slice(-4),
    scopes: 'events.read,email.read',
    expiresAt: expect.any(String),
    key: expect.stringMatching(/^app_[0-9A-Za-z]{40}$/),
  });
  expect(key).toMatchObject({ key: expect.stringMatching(/^msg_/), scopes: 'all', name: null });
  for (const [{ expiresAt }, days] of [
    [token, 30],
    [key, 1],
  ] as const)
    expect(Math.abs(Date.parse(expiresAt) - now().getTime() - days * 86_400_000)).toBeLessThan(300_000);
  expect(await statusOf('/v2/events', token.key)).toBe(200);
  expect(await statusOf('/v2/webhooks', token.key)).toBe(403);

  const { key: _, ...shown } = token;
  const [tokens, keys] = await Promise.all([
    printed('app', 'list', own.workspaceId),
    printed('key', 'list', own.workspaceId),
    expect(printed('key', 'delete', own.workspaceId, token.id)).rejects.toThrow('There is no key'),
  ]);
  expect(tokens).toEqual([shown]);
  expect(keys.map(({ id }: { id: string }) => id)).toEqual([key.id, own.keyId]);

  await advanceClockTo(new Date(token.expiresAt));
  expect(await statusOf('/v2/events', token.key)).toBe(401);
  expect(await printed('app', 'delete', own.workspaceId, token.id)).toEqual({ deleted: token.id });
});

test('a token must be given scopes, never api_keys.write, and an end', async () => {
  const mistakes: [changes: Record<string, string | undefined>, complaint: string][] = [
    [{ '--scopes': undefined }, '--scopes'],
    [{ '--scopes': 'events.read,api_keys.write' }, 'api_keys.write'],
    [{ '--expires-in-days': undefined }, '--expires-in-days'],
    [{ '--expires-in-days': 'never' }, 'number of days'],
  ];
  await Promise.all(
    mistakes.map(([changes, complaint]) => expect(create(changes)).rejects.toThrow(complaint)),
  );
});
