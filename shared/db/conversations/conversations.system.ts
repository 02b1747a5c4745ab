import { firstUuidAt, idFromBytes, idToBytes } from '../../formats/ids.ts';
import { keyOfAddress } from '../../formats/sms/sender-name.ts';
import { pairOf } from '../../formats/text-pair.ts';
import { deleteByIds } from '../client/rows.system.ts';
import type { RecordOf, RowOf } from '../client/table.ts';
import { byId, query } from '../client.ts';
import type { sms } from '../sms/messages.ts';
import { type ConversationRow, conversations } from './conversations.ts';

/** Deletes old texts and takes them out of their conversations, for retention: across workspaces. */

/**
 * Locks, until the transaction ends, a batch of texts that were made before `until`, were not scheduled for later, and
 * are neither queued nor held.
 */
export async function listSmsPastForUpdate(until: Date, limit: number): Promise<Buffer[]> {
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM sms_messages ${byId} WHERE id < ? AND status NOT IN ('queued', 'held')
       AND (scheduled_at IS NULL OR scheduled_at < ?) ORDER BY id LIMIT ? FOR UPDATE`,
    [firstUuidAt(until), until, limit],
  );
  return rows.map(({ id }) => id);
}

/** How many texts leave a conversation. */
type Leaving = { id: Buffer; inbound: number; outbound: number };

type LeavingRow = Pick<ConversationRow, 'id' | 'sender_key'> &
  Pick<RowOf<typeof sms>, 'direction' | 'sender' | 'recipient'>;

/** Returns how many of these texts leave each conversation; the texts must be locked. */
export async function listLeaving(smsIds: Buffer[]): Promise<Leaving[]> {
  const rows = await query<LeavingRow[]>(
    `SELECT c.id, c.sender_key, m.direction, m.sender, m.recipient FROM sms_messages m ${byId}
     STRAIGHT_JOIN conversations c FORCE INDEX (conversations_pair)
       ON c.workspace_id = m.workspace_id AND c.number = IF(m.direction = 'inbound', m.sender, m.recipient)
     WHERE m.id IN (?)`,
    [smsIds],
  );
  const leaving = new Map<string, Leaving>();
  for (const { id, sender_key: key, direction, sender, recipient } of rows) {
    const own = pairOf({ direction, sender: String(sender), recipient: String(recipient) }).sender;
    if (keyOfAddress(own) !== String(key)) continue;
    const name = id.toString('hex');
    const one = leaving.get(name) ?? { id, inbound: 0, outbound: 0 };
    one[direction] += 1;
    leaving.set(name, one);
  }
  return [...leaving.values()];
}

export function deleteSms(smsIds: Buffer[]): Promise<number> {
  return deleteByIds('sms_messages', smsIds);
}

type ConversationLeft = RecordOf<typeof conversations>;
const counted = conversations.omit(
  'isOpen',
  'lastInboundAt',
  'lastOutboundAt',
  'lastActivityAt',
  'lastSmsId',
);

/**
 * Subtracts deleted texts from their conversations, and deletes the conversations that have no text left. Returns the
 * conversations whose newest text is gone while others remain. A conversation that is not open yet counts its texts
 * later.
 */
export async function updateConversationsLeft(
  leaving: Leaving[],
  gone: Buffer[],
): Promise<ConversationLeft[]> {
  if (leaving.length === 0) return [];
  const ids = leaving.map(({ id }) => id);
  const locked = conversations.toRecords(
    await query(`SELECT * FROM conversations ${byId} WHERE id IN (?) ORDER BY id FOR UPDATE`, [ids]),
  );
  // A conversation that is not open yet stays locked too: opening it must not count texts being deleted.
  const open = locked.filter(({ isOpen }) => isOpen);
  const byConversation = new Map(leaving.map((one) => [idFromBytes('conversation', one.id), one]));
  const after = open.map((record) => {
    const { inbound, outbound } = byConversation.get(record.id)!;
    return {
      record,
      inbound: record.inboundCount - inbound,
      outbound: record.outboundCount - outbound,
    };
  });
  const isEmpty = ({ inbound, outbound }: (typeof after)[number]) => inbound + outbound <= 0;
  const [empty, kept] = [after.filter(isEmpty), after.filter((one) => !isEmpty(one))];
  if (empty.length > 0)
    await deleteByIds(
      'conversations',
      empty.map(({ record }) => idToBytes(record.id)),
    );
  if (kept.length > 0)
    await query(
      `INSERT INTO ${counted.into} VALUES ?
       ON DUPLICATE KEY UPDATE inbound_count = VALUES(inbound_count), outbound_count = VALUES(outbound_count)`,
      [
        kept.map(({ record, inbound, outbound }) =>
          counted.toValues({ ...record, inboundCount: inbound, outboundCount: outbound }),
        ),
      ],
    );
  const names = new Set(gone.map((id) => idFromBytes('sms', id)));
  return kept.filter(({ record }) => names.has(record.lastSmsId!)).map(({ record }) => record);
}

/** Sets another text as the newest; the row must be locked. */
export async function updateNewest(
  conversation: ConversationLeft,
  { id, at }: { id: string; at: Date },
): Promise<void> {
  await query(
    `UPDATE conversations ${byId} SET last_sms_id = ?, last_activity_at = ? WHERE id = ? AND workspace_id = ?`,
    [idToBytes(id), at, idToBytes(conversation.id), idToBytes(conversation.workspaceId)],
  );
}

/** Deletes a batch of conversations that were made before `until` and whose first text never came. */
export async function deleteUnopenedBefore(until: Date, limit: number): Promise<number> {
  // Deletes by id: a transaction that opens a conversation holds the row, then changes the index entry that is read
  // here.
  const rows = await query<{ id: Buffer }[]>(
    `SELECT id FROM conversations FORCE INDEX (conversations_unopened)
     WHERE is_open = 0 AND created_at < ? ORDER BY created_at LIMIT ?`,
    [until, limit],
  );
  if (rows.length === 0) return 0;
  await query(`DELETE c FROM conversations c ${byId} WHERE c.id IN (?) AND c.is_open = 0`, [
    rows.map(({ id }) => id),
  ]);
  return rows.length;
}
