import { firstUuidAt } from '../../formats/ids.ts';
import { deleteByIds } from '../client/rows.system.ts';
import { changeRows, query } from '../client.ts';

/**
 * The tables whose rows are deleted for their age alone. The column tells the age, and an index has it: it is a time, or
 * the id, which contains the time of its row.
 */
const ages = {
  report_states: 'id',
  request_nonces: 'expires_at',
  simulator_messages: 'id',
  sms_gateway_posts: 'received_at',
  sms_inbound_parts: 'received_at',
  sms_inbound_unanswered: 'received_at',
  sms_parts: 'taken_at',
  sms_receipts_unmatched: 'received_at',
  sms_stop_replies: 'replied_at',
  webhook_hosts: 'tried_at',
} as const;

/** Deletes, in all workspaces, the first `limit` rows of the table from before `until`; returns how many went. */
export function deleteAged(table: keyof typeof ages, until: Date, limit: number): Promise<number> {
  const column = ages[table];
  return changeRows(`DELETE FROM ${table} WHERE ${column} < ? ORDER BY ${column} LIMIT ?`, [
    column === 'id' ? firstUuidAt(until) : until,
    limit,
  ]);
}

const agesOfBusy = { contact_list_copies: 'completed_at', email_test_links: 'sent_at' } as const;

/** Does the same by a plain read and the ids found, so that it does not wait for work in progress on such rows. */
export async function deleteAgedOfBusy(
  table: keyof typeof agesOfBusy,
  until: Date,
  limit: number,
): Promise<number> {
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM ${table} WHERE ${agesOfBusy[table]} < ? LIMIT ?`,
    [until, limit],
  );
  return deleteByIds(
    table,
    rows.map(({ id }) => id),
  );
}
