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
  changeSettings({ MYSQL_POOL_SIZE: 4 });
  // The pool has had its size since it was opened.
  await closeDatabase();
});

test('writes of a workspace that all wait for one lock leave a connection to other workspaces', async () => {
  const api = await startApi();
  const [greedy, own] = [await workspace(), await workspace()];
  const post = (by: typeof own, number: string) =>
    api.request('POST', '/v2/contacts', { key: by.key, body: { number } });
  const { body: contact } = await post(greedy, '+447700900001');
  const [locker, waits] = [await mysql.createConnection(config.MYSQL_URL), await watchLockWaits()];
  onTestFinished(waits.close);
  onTestFinished(() => locker.destroy());
  await locker.query('START TRANSACTION');
  await locker.query('SELECT * FROM contacts WHERE id = ? FOR UPDATE', [idToBytes(contact.id)]);
  const path = `/v2/contacts/${contact.id}`;
  const held = Array.from({ length: 20 }, (_, count) =>
    api.request('PATCH', path, { key: greedy.key, body: { firstName: `${count}` } }),
  );
  const areWaiting = async () => (await waits.look()).length >= 3;
  await waitUnlessAnswered(held, waitFor('its share of connections to wait', areWaiting));
  expect((await post(own, '+447700900002')).status).toBe(201);
  await locker.query('ROLLBACK');
  await Promise.all(held);
});
