import mysql from 'mysql2/promise';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { closeDatabase } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { watchLockWaits } from '../../support/database/lock-wait.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor, waitUnlessAnswered } from '../../support/time/wait-for.ts';

useDatabase();

beforeAll(async () => {
  changeSettings({ MYSQL_POOL_SIZE: 8 });
  // The pool has had its size since it was opened.
  await closeDatabase();
});

type Owner = Awaited<ReturnType<typeof workspace>>;
const post = (api: Awaited<ReturnType<typeof startApi>>, { key }: Owner, number: string) =>
  api.request('POST', '/v2/contacts', { key, body: { number } });

// Of eight connections the first workspace has six, and the second one of the two that are left.
test.each([
  ['one workspace', [6]],
  ['two workspaces', [6, 7]],
])('writes of %s that all wait for a lock leave connections to other workspaces', async (_who, waitingBy) => {
  const api = await startApi();
  const own = await workspace();
  const [locker, waits] = [await mysql.createConnection(config.MYSQL_URL), await watchLockWaits()];
  onTestFinished(waits.close);
  onTestFinished(() => locker.destroy());
  await locker.query('START TRANSACTION');
  const held: Promise<unknown>[] = [];
  for (const waiting of waitingBy) {
    const greedy = await workspace();
    const { body: contact } = await post(api, greedy, '+447700900001');
    await locker.query('SELECT * FROM contacts WHERE id = ? FOR UPDATE', [idToBytes(contact.id)]);
    held.push(
      ...Array.from({ length: 20 }, (_, count) =>
        api.request('PATCH', `/v2/contacts/${contact.id}`, {
          key: greedy.key,
          body: { firstName: `${count}` },
        }),
      ),
    );
    const areWaiting = async () => (await waits.look()).length >= waiting;
    await waitUnlessAnswered(held, waitFor('its share of connections to wait', areWaiting));
  }
  expect((await post(api, own, '+447700900002')).status).toBe(201);
  expect((await waits.look()).length).toBeLessThanOrEqual(waitingBy.at(-1)!);
  await locker.query('ROLLBACK');
  await Promise.all(held);
});
