import { beforeAll, expect, test } from 'vitest';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import type { Scope } from '../../../shared/schemas/scopes.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let made: any[];
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  made = [];
  for (const body of [
    { email: 'ada@example.com', reason: 'ada@example.com wrote to us' },
    { number: '+447700900123', reason: 'Rang us' },
    { email: 'bob@example.com' },
  ])
    made.push((await api.request('POST', '/v2/suppressions', { key: own.key, body })).body);
  await relay.relayAll();
});

async function seenWith(...scopes: Scope[]): Promise<any[]> {
  const { key } = await apiKeys.issue(own.workspaceId, { scopes });
  const { body } = await api.request('GET', '/v2/events?types=suppression.created', { key });
  return body.data.map(({ data }: { data: object }) => data);
}

test('a suppression in the feed is as it is told elsewhere, for whoever may read suppressions or recipients', async () => {
  for (const more of [
    [],
    ['suppressions.read'],
    ['recipients.read'],
    ['recipients.read', 'content.read'],
  ] as const)
    if (more.length > 0) expect(await seenWith('events.read', ...more)).toEqual(made);
});

// Shows A5
test('who may read neither learns from the feed that somebody was suppressed, and not who', async () => {
  const covered = made.map((suppression) => ({ ...suppression, number: null, email: null, reason: null }));
  expect(await seenWith('events.read')).toEqual(covered);
  expect(await seenWith('events.read', 'content.read')).toEqual(covered);
});
