import { query } from '../client.ts';
import { type ContactErasure, contactErasures } from './erasures.ts';

/** Erasures of all workspaces that have not come to their end. */
export async function listContactErasures(limit: number): Promise<ContactErasure[]> {
  return contactErasures.toRecords(
    await query('SELECT * FROM contact_erasures ORDER BY contact_id LIMIT ?', [limit]),
  );
}

/** Returns since when the oldest erasure has waited for its end; null where none does. */
export async function findOldestErasure(): Promise<Date | null> {
  const [row] = await query<{ since: Date | null }[]>(
    'SELECT MIN(created_at) AS since FROM contact_erasures',
  );
  return row?.since ?? null;
}
