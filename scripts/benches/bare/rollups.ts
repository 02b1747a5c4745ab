import type mysql from 'mysql2/promise';
import { serve } from '../serve.ts';
import { openDatabase } from './connections.ts';

/**
 * Reads events in batches, stores the last counted state of each message, and adds the changes to a row for each
 * hour, tag and domain, in one transaction with the position reached.
 */
const batchSize = 5_000;
const hourMs = 3_600_000;

interface Event {
  id: Buffer;
  type: string;
  data: string;
}
interface Told {
  status: string;
  createdAt: string;
  clientTag: string;
  sender: string;
  recipient: string;
}
type Counts = { accepted: number; queued: number; sent: number };

async function count(connection: mysql.PoolConnection, after: number): Promise<number> {
  await connection.query('START TRANSACTION');
  const [events] = await connection.query<(Event & mysql.RowDataPacket)[]>(
    'SELECT type, record_id AS id, data FROM events WHERE position > ? AND position <= ? ORDER BY position',
    [after, after + batchSize],
  );
  const sums = new Map<string, Counts>();
  for (const { type, data } of events) {
    const { createdAt, clientTag, sender, recipient } = JSON.parse(data) as Told;
    const hour = Math.floor(Date.parse(createdAt) / hourMs);
    const isNew = type === 'email.queued';
    for (const name of ['all', `tag ${clientTag}`, domainOf('to', recipient), domainOf('from', sender)]) {
      const key = `${hour} ${name}`;
      const sum = sums.get(key) ?? { accepted: 0, queued: 0, sent: 0 };
      sums.set(key, sum);
      sum.accepted += isNew ? 1 : 0;
      sum.queued += isNew ? 1 : -1;
      sum.sent += isNew ? 0 : 1;
    }
  }
  await connection.query(
    'INSERT INTO bare_states (id, counted) VALUES ? ON DUPLICATE KEY UPDATE counted = VALUES(counted)',
    [events.map(({ id, type }) => [id, type])],
  );
  await connection.query(
    `INSERT INTO bare_counts (name, accepted, queued, sent) VALUES ?
     ON DUPLICATE KEY UPDATE accepted = accepted + VALUES(accepted), queued = queued + VALUES(queued),
       sent = sent + VALUES(sent)`,
    [[...sums].map(([name, sum]) => [name, sum.accepted, sum.queued, sum.sent])],
  );
  await connection.query('REPLACE INTO bare_counted (id, position) VALUES (1, ?)', [after + events.length]);
  await connection.query('COMMIT');
  return after + events.length;
}

const domainOf = (name: string, address: string) =>
  `${name} ${address.slice(address.lastIndexOf('@') + 1).replace('>', '')}`;

/** Counts all events after one position, up to another. */
async function countAll({ after, upTo }: { after: number; upTo: number }): Promise<void> {
  const database = openDatabase();
  const connection = await database.getConnection();
  for (let reached = after; reached < upTo; ) reached = await count(connection, reached);
  connection.release();
  await database.end();
}

serve({ countAll });
