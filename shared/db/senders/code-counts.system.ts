import type { Lock } from '../client/rows.ts';
import { byId, changeRows, execute, query } from '../client.ts';

/** Finds the times of codes, and locks the subject until the transaction ends, even if no code was sent yet. */
export async function findCodeTimesForUpdate(subject: string, at: Date): Promise<Date[]> {
  await execute(
    `INSERT INTO sender_code_counts (subject, sent_times, updated_at) VALUES (?, '[]', ?)
     ON DUPLICATE KEY UPDATE subject = subject`,
    [Buffer.from(subject), at],
  );
  return findCodeTimes(subject, 'FOR UPDATE');
}

/** Returns when codes were sent to this subject, oldest first. */
export async function findCodeTimes(subject: string, lock: Lock = ''): Promise<Date[]> {
  const [row] = await execute<{ sent_times: string }[]>(
    `SELECT sent_times FROM sender_code_counts ${byId} WHERE subject = ? ${lock}`,
    [Buffer.from(subject)],
  );
  return row ? (JSON.parse(row.sent_times) as number[]).map((time) => new Date(time)) : [];
}

export async function updateCodeTimes(subject: string, times: Date[], at: Date): Promise<void> {
  await execute(`UPDATE sender_code_counts ${byId} SET sent_times = ?, updated_at = ? WHERE subject = ?`, [
    JSON.stringify(times.map((time) => time.getTime())),
    at,
    Buffer.from(subject),
  ]);
}

/** Deletes a batch of old counts. A plain read finds them, so that the deletion waits for no request in progress. */
export async function deleteCodeTimesBefore(before: Date, limit: number): Promise<number> {
  const rows = await query<{ subject: Buffer }[]>(
    'SELECT subject FROM sender_code_counts WHERE updated_at < ? LIMIT ?',
    [before, limit],
  );
  if (rows.length === 0) return 0;
  return changeRows(
    `DELETE c FROM sender_code_counts c ${byId} WHERE c.subject IN (?) AND c.updated_at < ?`,
    [rows.map(({ subject }) => subject), before],
  );
}
