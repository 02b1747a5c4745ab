import type mysql from 'mysql2/promise';
import { serve } from '../serve.ts';
import { openDatabase } from './connections.ts';
import { risingId } from './ids.ts';

/** For a thousand events at a time: a multi-row insert for each of two webhooks, and an update that numbers them. */
const batchSize = 1000;
const webhookIds = [risingId(), risingId()];
const insert = 'INSERT INTO bare_fanned_out (id, webhook_id, event_id, status, due_at, created_at) VALUES ?';

async function relay(connection: mysql.PoolConnection, first: number): Promise<void> {
  const eventIds = Array.from({ length: batchSize }, (_, index) => first + index);
  const at = new Date();
  await connection.query('START TRANSACTION');
  for (const webhookId of webhookIds)
    await connection.query(insert, [eventIds.map((id) => [risingId(), webhookId, id, 'pending', at, at])]);
  await connection.query('UPDATE bare_numbered SET position = id WHERE id BETWEEN ? AND ?', [
    first,
    first + batchSize - 1,
  ]);
  await connection.query('COMMIT');
}

/** The events with these numbers; `count` is in whole batches. */
async function relayAll({ first, count }: { first: number; count: number }): Promise<void> {
  const database = openDatabase();
  const connection = await database.getConnection();
  for (let done = 0; done < count; done += batchSize) await relay(connection, first + done);
  connection.release();
  await database.end();
}

serve({ relayAll });
