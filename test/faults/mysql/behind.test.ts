// @slow: it starts processes or servers of its own.
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { migrateUp } from '../../../shared/db/client/migrate.ts';
import { closeDatabase, onOneConnection, query, transaction } from '../../../shared/db/client.ts';
import { insertEvents } from '../../../shared/db/events/events.system.ts';
import * as events from '../../../shared/domain/events/events.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import { readUpToDate } from '../../../shared/domain/sms/batches/work/read-up-to-date.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { type Caller, scopes } from '../../../shared/schemas/scopes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { startOwnMysql } from '../../support/servers/own-servers.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';

/** A cluster of two servers behind a proxy: one has three events, and the other does not have the last of them yet. */
let ahead: URL;
let behind: URL;
let line: TcpProxy;
const workspaceId = newId('workspace', now());
const all = [1, 2, 3].map(() => ({
  workspaceId,
  event: {
    id: newId('event', now()),
    type: 'email.queued',
    recordId: newId('email', now()),
    recordSeq: 1,
    occurredAt: now(),
    data: '{}',
    requestId: null,
  },
}));

beforeAll(async () => {
  const secrets = { password: 'both', database: 'messaging_both' };
  const servers = [await startOwnMysql(secrets), await startOwnMysql(secrets)];
  [ahead, behind] = servers.map(({ url }) => new URL(url)) as [URL, URL];
  atEnd(closeDatabase);
  for (const [index, { url, query: ask }] of servers.entries()) {
    await ask('CREATE DATABASE messaging_both CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
    await use(url);
    await migrateUp();
    await transaction(() => insertEvents(index === 0 ? all : all.slice(0, 2)));
    await relay.relayAll();
  }
  line = await startTcpProxy(ahead.href);
});

async function use(url: string): Promise<void> {
  changeSettings({ MYSQL_URL: url });
  await closeDatabase();
}

const caller = { workspaceId, scopes: new Set(scopes) } as unknown as Caller;
const feed = async (cursor?: string) => {
  const { items, nextCursor } = await events.feed(caller, {
    limit: 2,
    ...(cursor && { cursor }),
  });
  return { ids: items.map((item) => JSON.parse(item).id as string), nextCursor };
};

// Shows F39
test('no event is passed over where connections of one process lead to a server that is behind, too', async () => {
  line.redirect(ahead.href);
  await use(line.url);
  const first = await feed();
  await use(line.url);
  // One connection to the server that is ahead; the next ones lead to the other.
  await query('SELECT 1');
  line.redirect(behind.href);
  const second = await feed(first.nextCursor);
  await use(ahead.href);
  const third = await feed(second.nextCursor);
  expect([...first.ids, ...second.ids, ...third.ids]).toEqual(all.map(({ event }) => event.id));
});

test('what is read on one connection is read by one server, however many ask at once', async () => {
  line.redirect(ahead.href);
  await use(line.url);
  await query('SELECT 1');
  line.redirect(behind.href);
  const portOf = async () => (await query<{ port: number }[]>('SELECT @@port AS port, SLEEP(0.05)'))[0]!.port;
  const ports = await onOneConnection(() => Promise.all([portOf(), portOf(), portOf()]));
  expect(ports).toEqual(Array.from({ length: 3 }, () => Number(ahead.port)));
});

test('a batch is not read from a server that does not know as much of it', async () => {
  await use(behind.href);
  const batch = { workspaceId, id: newId('batch', now()), rowCount: 1 };
  await expect(readUpToDate(batch, () => Promise.resolve('read'))).rejects.toMatchObject({
    code: 'service_unavailable',
  });
});
