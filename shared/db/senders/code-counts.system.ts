import { byId, changeRows, execute, query } from '../client.ts';

/**
 * Returns when codes were sent to this subject, oldest first. Locks the subject until the transaction ends, even if no
 * code was sent yet.
 */
export async function findCodeTimesForUpdate(subject: string, at: Date): Promise<Date[]> {
  const values = [Buffer.from(subject)];
  await execute(
    `INSERT INTO sender_code_counts (subject, sent_times, updated_at) VALUES (?, '[]', ?)
     ON DUPLICATE KEY UPDATE subject = subject`,
    [...values, at],
  );
  return timesIn(
    await execute(`SELECT sent_times FROM sender_code_counts ${byId} WHERE subject = ? FOR UPDATE`, values),
  );
}

/** Returns when codes were sent to this subject, oldest first. */
export async function findCodeTimes(subject: string): Promise<Date[]> {
  return timesIn(
    await execute(`SELECT sent_times FROM sender_code_counts ${byId} WHERE subject = ?`, [
      Buffer.from(subject),
    ]),
  );
}

function timesIn([row]: { sent_times: string }[]): Date[] {
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
