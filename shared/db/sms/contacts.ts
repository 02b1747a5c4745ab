import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { byId, execute, query } from '../client.ts';
import type { SmsRecord } from './messages.ts';

/** The columns that link a text to the contact at its other end. */

const atOnce = 500;
const ways = [
  { column: 'recipient', index: 'sms_by_recipient' },
  { column: 'sender', index: 'sms_by_sender' },
];

/**
 * Removes the id of this contact from texts to and from the number. Each step changes some texts, in a transaction of
 * its own where none is open.
 */
export async function* eraseSmsContact(
  workspaceId: string,
  { id, number }: { id: string; number: string },
): AsyncGenerator<void> {
  const [own, contactId] = [idToBytes(workspaceId), idToBytes(id)];
  for (const { column, index } of ways) {
    let after: Buffer = Buffer.alloc(0);
    for (;;) {
      // The ids are read without a lock, then the rows are locked in the order of their ids, as workers lock them.
      const rows = await execute<{ id: Buffer }[]>(
        `SELECT id FROM sms_messages FORCE INDEX (${index})
         WHERE workspace_id = ? AND ${column} = ? AND id > ? AND contact_id = ? ORDER BY id LIMIT ${atOnce}`,
        [own, Buffer.from(number), after, contactId],
      );
      if (rows.length === 0) break;
      after = rows.at(-1)!.id;
      await query(
        `UPDATE sms_messages ${byId} SET contact_id = NULL
         WHERE id IN (?) AND workspace_id = ? AND contact_id = ?`,
        [rows.map((row) => row.id), own, contactId],
      );
      yield;
    }
  }
}

/**
 * Returns the texts without the ids of deleted contacts. Such an id stays in texts to an earlier number of the contact,
 * and in a text that was being accepted while the contact was erased.
 */
export async function withoutErasedContacts(workspaceId: string, records: SmsRecord[]): Promise<SmsRecord[]> {
  const ids = [...new Set(records.flatMap(({ contactId }) => contactId ?? []))];
  if (ids.length === 0) return records;
  const rows = await query<{ id: Buffer }[]>('SELECT id FROM contacts WHERE workspace_id = ? AND id IN (?)', [
    idToBytes(workspaceId),
    ids.map(idToBytes),
  ]);
  const known = new Set(rows.map((row) => idFromBytes('contact', row.id)));
  return records.map((record) =>
    record.contactId === null || known.has(record.contactId) ? record : { ...record, contactId: null },
  );
}
