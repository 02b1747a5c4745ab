import { query } from '../client.ts';
import { type ContactErasure, contactErasures } from './erasures.ts';

/** Erasures of all workspaces that have not come to their end. */
export async function listContactErasures(limit: number): Promise<ContactErasure[]> {
  return contactErasures.toRecords(
    await query('SELECT * FROM contact_erasures ORDER BY contact_id LIMIT ?', [limit]),
  );
}
