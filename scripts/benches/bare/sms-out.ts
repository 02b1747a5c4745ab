import { type Job, Queue } from 'bullmq';
import type mysql from 'mysql2/promise';
import { serve } from '../serve.ts';
import { openDatabase, openRedis, prefix, workOn } from './connections.ts';
import { rowWriter } from './rows.ts';

/**
 * A BullMQ job; a submit to a sink that does the work of the simulator (a phone, its text and the pending answer in
 * one batched transaction, and a delayed job for the answer); a batched update of the result.
 */
export interface TextSettings {
  queue: string;
  jobsInFlight: number;
}
export interface TextJob {
  index: number;
  recipient: string;
  content: string;
}

const answerAfterMs = 1_000;
// The rows exist already, so this statement updates many of them at once.
const results = 'INSERT INTO bare_texts (id, status, reference, sent_at)';
const asUpdate =
  ' ON DUPLICATE KEY UPDATE status = VALUES(status), reference = VALUES(reference), sent_at = VALUES(sent_at)';

/** The simulator keeps a batch of texts by three multi-row INSERTs in one transaction. */
async function keep(database: mysql.Pool, texts: TextJob[]): Promise<void> {
  const connection = await database.getConnection();
  const at = new Date();
  const answerAt = new Date(at.getTime() + answerAfterMs);
  try {
    await connection.query('START TRANSACTION');
    await connection.query('INSERT IGNORE INTO bare_phones (recipient, created_at) VALUES ?', [
      texts.map(({ recipient }) => [recipient, at]),
    ]);
    await connection.query(
      'INSERT INTO bare_phone_texts (text_id, recipient, content, created_at) VALUES ?',
      [texts.map(({ index, recipient, content }) => [index, recipient, content, at])],
    );
    await connection.query('INSERT INTO bare_answers (text_id, due_at) VALUES ?', [
      texts.map(({ index }) => [index, answerAt]),
    ]);
    await connection.query('COMMIT');
  } finally {
    connection.release();
  }
}

function start({ queue, jobsInFlight }: TextSettings): void {
  const database = openDatabase();
  const connection = openRedis();
  const answers = new Queue(`${queue}-answers`, { connection, prefix, skipVersionCheck: true });
  const submit = rowWriter((texts: TextJob[]) => keep(database, texts));
  const write = rowWriter((rows: unknown[][]) => database.query(`${results} VALUES ?${asUpdate}`, [rows]));
  const send = async ({ data }: Job<TextJob>) => {
    await submit(data);
    await write([data.index, 'sent', `reference-${data.index}`, new Date()]);
    await answers.add('answer', { index: data.index }, { delay: answerAfterMs, removeOnComplete: true });
  };
  workOn(queue, jobsInFlight, send);
}

serve({ start });
