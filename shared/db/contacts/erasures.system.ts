import { query } from '../client.ts';
import { type ContactErasure, contactErasures } from './erasures.ts';

/** Lists unfinished erasures of all workspaces. */
export async function listContactErasures(limit: number): Promise<ContactErasure[]> {
  return contactErasures.toRecords(
    await query('SELECT * FROM contact_erasures ORDER BY contact_id LIMIT ?', [limit]),
  );
}

/** Returns when the oldest unfinished erasure began; null where there is none. */
export async function findOldestErasure(): Promise<Date | null> {
  const [row] = await query<{ since: Date | null }[]>(
    'SELECT MIN(created_at) AS since FROM contact_erasures',
  );
  return row?.since ?? null;
}
