import mysql from 'mysql2/promise';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { processlist } from '../../../shared/db/client/time-limit.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { postEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { lockTable } from '../../support/database/lock-table.ts';
import { waitFor, waitUnlessAnswered } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

/** The pool lends so many of its connections to a workspace that is alone. */
const share = Math.ceil(config.MYSQL_POOL_SIZE / 2);
const times = <T>(count: number, work: () => T): T[] => Array.from({ length: count }, work);

async function newContact() {
  const { key } = await workspace();
  const { body } = await api.request('POST', '/v2/contacts', { key, body: { number: '+447700900001' } });
  return { key, path: `/v2/contacts/${body.id}` };
}

// Where the first workspace holds its share, each of the others has one connection of those that are left.
test.each([
  ['GET', 1],
  ['PATCH', 1],
  ['PATCH', 2],
  ['PATCH', 9],
] as const)(
  'where every %s of %i workspaces waits for a lock, another workspace has connections',
  async (method, greedy) => {
    const [own, ...contacts] = await Promise.all([workspace(), ...times(greedy, newContact)]);
    const lister = await mysql.createConnection(config.MYSQL_URL);
    onTestFinished(() => lister.end());
    const countWaiting = async () => {
      const [rows] = await lister.query<mysql.RowDataPacket[]>(
        `SELECT id FROM ${processlist} WHERE db = DATABASE() AND state LIKE 'Waiting for table%'`,
      );
      return rows.length;
    };
    const release = await lockTable('contacts');
    const held: Promise<unknown>[] = [];
    for (const [before, { key, path }] of contacts.entries()) {
      const body = method === 'GET' ? {} : { body: { firstName: 'Ada' } };
      const burst = times(2 * share, () => api.request(method, path, { key, ...body }));
      held.push(...burst);
      const areWaiting = async () => (await countWaiting()) >= share + before;
      // Requests of the bursts before may have waited for as long as is allowed.
      await waitUnlessAnswered(burst, waitFor('its share of connections to wait', areWaiting));
    }
    expect((await postEmail(api, own)).status).toBe(201);
    expect(await countWaiting()).toBe(share + greedy - 1);
    await release();
    await Promise.all(held);
  },
);
