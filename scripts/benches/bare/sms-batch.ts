import { Liquid } from 'liquidjs';
import type mysql from 'mysql2/promise';
import { type BatchContent, batchRowOf, batchSources, textSender } from '../content.ts';
import { serve } from '../serve.ts';
import { openDatabase } from './connections.ts';
import { risingId } from './ids.ts';

/**
 * Takes 500 rows at a time: reads them and renders their texts with liquidjs, which has parsed the source once. One
 * transaction has a multi-row insert of the messages, one of their events, and an update of the counts and the
 * position.
 */
export interface BareBatch {
  id: number;
  content: BatchContent;
  /** The first of the rows that content.ts makes. */
  first: number;
  count: number;
}

const chunkSize = 500;
const partLength = 160;
const messageColumns =
  'id, workspace_id, batch_id, status, sender, recipient, content, country, parts, created_at, updated_at, due_at';
const eventColumns = 'id, workspace_id, type, record_id, occurred_at, data';
const database = openDatabase();
const liquid = new Liquid();
const workspaceId = risingId();
const batchIdOf = (id: number) => Buffer.from(String(id).padStart(16, '0'));

/** Stores the rows that are to become messages. */
async function fill({ id, content, first, count }: BareBatch): Promise<void> {
  await database.query('INSERT INTO bare_batches (id, row_count, next_position, queued, parts) VALUES ?', [
    [[batchIdOf(id), count, 0, 0, 0]],
  ]);
  for (let start = 0; start < count; start += chunkSize) {
    const length = Math.min(chunkSize, count - start);
    await database.query('INSERT INTO bare_batch_rows (batch_id, position, number, country, data) VALUES ?', [
      Array.from({ length }, (_, index) => {
        const { recipient, data } = batchRowOf(content, first + start + index);
        return [batchIdOf(id), start + index, recipient, 'GB', data ? JSON.stringify(data) : null];
      }),
    ]);
  }
}

/** Makes messages of all rows of the batch. */
async function expand({ id, content, count }: BareBatch): Promise<void> {
  const connection = await database.getConnection();
  const source = batchSources[content];
  const template = source.includes('{') ? liquid.parse(source) : null;
  const textOf = (data: string | null): string =>
    template ? (liquid.renderSync(template, data ? JSON.parse(data) : {}) as string) : source;
  for (let from = 0; from < count; from += chunkSize)
    await makeChunk(connection, batchIdOf(id), from, textOf);
  connection.release();
}

async function makeChunk(
  connection: mysql.PoolConnection,
  batchId: Buffer,
  from: number,
  textOf: (data: string | null) => string,
): Promise<void> {
  const [rows] = await connection.query<mysql.RowDataPacket[]>(
    `SELECT position, number, country, data FROM bare_batch_rows WHERE batch_id = ? AND position >= ?
     ORDER BY position LIMIT ?`,
    [batchId, from, chunkSize],
  );
  const at = new Date();
  const messages: unknown[][] = [];
  const events: unknown[][] = [];
  let allParts = 0;
  for (const { number, country, data } of rows) {
    const id = risingId();
    const text = textOf(data);
    const parts = Math.ceil(text.length / partLength);
    allParts += parts;
    messages.push([id, workspaceId, batchId, 'queued', textSender, number, text, country, parts, at, at, at]);
    const eventData = {
      id: id.toString('hex'),
      status: 'queued',
      sender: textSender,
      recipient: number,
      content: text,
      country,
      parts,
      batchId: batchId.toString('hex'),
      createdAt: at.toISOString(),
      updatedAt: at.toISOString(),
    };
    events.push([risingId(), workspaceId, 'sms.queued', id, at, JSON.stringify(eventData)]);
  }
  await connection.query('START TRANSACTION');
  await connection.query(`INSERT INTO bare_batch_messages (${messageColumns}) VALUES ?`, [messages]);
  await connection.query(`INSERT INTO bare_events (${eventColumns}) VALUES ?`, [events]);
  await connection.query(
    'UPDATE bare_batches SET next_position = ?, queued = queued + ?, parts = parts + ? WHERE id = ?',
    [from + rows.length, rows.length, allParts, batchId],
  );
  await connection.query('COMMIT');
}

serve({ fill, expand });
