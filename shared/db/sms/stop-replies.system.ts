import { type Changed, query } from '../client.ts';

export async function deleteStopRepliesBefore(until: Date, limit: number): Promise<number> {
  const { affectedRows } = await query<Changed>(
    'DELETE FROM sms_stop_replies WHERE replied_at < ? ORDER BY replied_at LIMIT ?',
    [until, limit],
  );
  return affectedRows;
}
