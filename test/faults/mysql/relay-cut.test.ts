import mysql from 'mysql2/promise';
import { expect, onTestFinished, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import * as deliveries from '../../../shared/domain/webhooks/deliveries/deliveries.ts';
import * as webhooks from '../../../shared/domain/webhooks/webhooks.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { alterWebhook, countsOf, makeWebhook, nowhere, storeEvents } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { watchLockWaits } from '../../support/database/lock-wait.ts';
import { waitFor, waitUnlessAnswered } from '../../support/time/wait-for.ts';

useDatabase();

const hourAgo = () => new Date(now().getTime() - 3_600_000);

test('what a relay that has lost its transaction skips behind a recovery is sent by the next relay', async () => {
  const own = await workspace();
  const { id } = await makeWebhook(own, nowhere);
  await alterWebhook(id, { active: 0, auto_disabled: 1 });
  // So many deliveries are inserted over connections of their own, and these do not hold the lock on the counter.
  const count = 600;
  await storeEvents(own, count);
  const locker = await mysql.createConnection(config.MYSQL_URL);
  onTestFinished(() => locker.destroy());
  await locker.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  await locker.query('START TRANSACTION');
  // This locks the places of the deliveries that the relay will insert.
  await locker.query('SELECT * FROM webhook_deliveries WHERE webhook_id = ? FOR UPDATE', [idToBytes(id)]);
  const waits = await watchLockWaits();
  const relayed = relay.relayAll();
  const isInserting = async () => (await waits.look()).length === 2;
  await waitUnlessAnswered([relayed], waitFor('the relay waits', isInserting, { timeoutMs: 30_000 }));
  const open = (await waits.lookAtOthers()).filter((thread) => thread !== locker.threadId);
  await waits.close();
  expect(open).toHaveLength(1);
  await query(`KILL ${open[0]}`);

  await transaction(() => webhooks.change(callerOf(own), id, { active: true }));
  await transaction(() => webhooks.recover(callerOf(own), id, hourAgo()));
  expect(await deliveries.settleNext(id)).toBe('done');
  await locker.query('ROLLBACK');
  await expect(relayed).rejects.toThrow();
  // The relay fails as soon as its transaction is gone. Inserts on other connections may still run.
  const isInserted = async () => (await countsOf(id)).skipped === count;
  await waitFor('all deliveries are inserted', isInserted, { timeoutMs: 30_000 });

  expect(await relay.relayAll()).toBe(count);
  const { parked, inRedis, skipped } = await countsOf(id);
  expect([parked + inRedis, skipped]).toEqual([count, 0]);
});
