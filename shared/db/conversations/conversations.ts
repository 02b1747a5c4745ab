import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import { keyOfAddress } from '../../formats/sms/sender-name.ts';
import { type Pair, pairOf } from '../../formats/text-pair.ts';
import { binaryText, boolean, id, int, sharedId, time } from '../client/columns.ts';
import { rowsOf, updateRow } from '../client/rows.ts';
import { type RecordOf, type RowOf, table } from '../client/table.ts';
import { byId, changeRow, execute, query } from '../client.ts';
import type { SmsRecord } from '../sms/messages.ts';

/** The conversations of a workspace. Each is a pair of a number and a sender, with the counts of their texts. */

export const conversations = table('conversations', {
  id: id('conversation'),
  workspaceId: sharedId('workspace'),
  number: binaryText(),
  /** The sender as the first inbound text named it. */
  sender: binaryText(),
  /** The sender as senders are compared. */
  senderKey: binaryText(),
  /**
   * False until the first text is stored. Before that, the fields below have no meaning, and no caller sees the
   * conversation.
   */
  isOpen: boolean(),
  inboundCount: int(),
  outboundCount: int(),
  lastInboundAt: time().nullable(),
  lastOutboundAt: time().nullable(),
  lastActivityAt: time().nullable(),
  lastSmsId: id('sms').nullable(),
  createdAt: time(),
});
const shown = conversations.omit('workspaceId', 'senderKey', 'createdAt');
const opened = shown.omit('id', 'number', 'sender');
export type ConversationRow = RowOf<typeof conversations>;
export type ConversationRecord = RecordOf<typeof shown>;
const unopened = conversations.pick('id', 'workspaceId', 'number', 'sender', 'senderKey', 'createdAt');

export type Text = Pick<SmsRecord, 'id' | 'direction' | 'sender' | 'recipient' | 'createdAt'>;

/**
 * Locks are taken by id only, several in the order of their ids. A transaction that locks an entry of another index
 * first and the row after it can deadlock with one that holds the row and changes the entry.
 */
const ofPair = 'FORCE INDEX (conversations_pair) WHERE workspace_id = ? AND number = ? AND sender_key = ?';
const pairValues = (workspaceId: string, { number, sender }: Pair) => [
  idToBytes(workspaceId),
  Buffer.from(number),
  Buffer.from(keyOfAddress(sender)),
];

/** Inserts a conversation that is not open yet; writes nothing where the pair has a conversation already. */
export async function insertConversation(
  workspaceId: string,
  id: string,
  { number, sender }: Pair,
  createdAt: Date,
): Promise<void> {
  await execute(
    `INSERT IGNORE INTO ${unopened.into} VALUES ${unopened.marks}`,
    unopened.toValues({ id, workspaceId, number, sender, senderKey: keyOfAddress(sender), createdAt }),
  );
}

export const {
  find: findConversation,
  /** Locked, so that no other transaction adds a text to it until this one ends. */
  findForUpdate: findConversationForUpdate,
} = rowsOf(shown);

export async function findConversationOf(
  workspaceId: string,
  pair: Pair,
): Promise<ConversationRecord | null> {
  return shown.toFirst(await execute(`SELECT * FROM conversations ${ofPair}`, pairValues(workspaceId, pair)));
}

/** Ids of the conversations that these texts belong to, where they belong to any. */
export async function listConversationIdsOf(workspaceId: string, texts: Text[]): Promise<Map<Text, string>> {
  if (texts.length === 0) return new Map();
  const pairs = texts.map(pairOf);
  const rows = await query<Pick<ConversationRow, 'id' | 'number' | 'sender_key'>[]>(
    `SELECT id, number, sender_key FROM conversations FORCE INDEX (conversations_pair)
     WHERE workspace_id = ? AND number IN (?)`,
    [idToBytes(workspaceId), pairs.map(({ number }) => Buffer.from(number))],
  );
  if (rows.length === 0) return new Map();
  const ids = new Map(rows.map((row) => [`${String(row.number)} ${String(row.sender_key)}`, row.id]));
  return new Map(
    texts.flatMap((text, index) => {
      const { number, sender } = pairs[index]!;
      const id = ids.get(`${number} ${keyOfAddress(sender)}`);
      return id ? [[text, idFromBytes('conversation', id)] as const] : [];
    }),
  );
}

// GREATEST of null is null, so a column that is null until the conversation is open stays null.
const later = (column: string) => `${column} = GREATEST(${column}, ?)`;
const additions = {
  inbound: `inbound_count = inbound_count + 1, last_inbound_at = GREATEST(COALESCE(last_inbound_at, ?), ?)`,
  outbound: `outbound_count = outbound_count + 1, last_outbound_at = GREATEST(COALESCE(last_outbound_at, ?), ?)`,
};

/** Adds a text to its conversation; returns false where the conversation is gone. */
export function updateConversationAdded(
  workspaceId: string,
  conversationId: string,
  { id, direction, createdAt: at }: Text,
): Promise<boolean> {
  return changeRow(
    `UPDATE conversations ${byId} SET ${additions[direction]}, ${later('last_activity_at')}, ${later('last_sms_id')}
     WHERE id = ? AND workspace_id = ?`,
    [at, at, at, idToBytes(id), idToBytes(conversationId), idToBytes(workspaceId)],
  );
}

const sentTo = conversations.omit('isOpen', 'inboundCount', 'lastInboundAt', 'lastActivityAt');

/**
 * Adds texts that went out together; `sent` has the id of each text's conversation. A conversation that is gone by now
 * is left out.
 */
export async function updateManyConversationsSent(
  workspaceId: string,
  sent: Map<Text, string>,
): Promise<void> {
  if (sent.size === 0) return;
  const locked = conversations.toRecords(
    await query(
      `SELECT * FROM conversations ${byId} WHERE id IN (?) AND workspace_id = ?
     ORDER BY id FOR UPDATE`,
      [[...new Set(sent.values())].map(idToBytes), idToBytes(workspaceId)],
    ),
  );
  if (locked.length === 0) return;
  const byConversation = Map.groupBy(sent, ([, id]) => id);
  await query(
    `INSERT INTO ${sentTo.into} VALUES ?
     ON DUPLICATE KEY UPDATE outbound_count = outbound_count + VALUES(outbound_count),
       last_outbound_at = GREATEST(COALESCE(last_outbound_at, VALUES(last_outbound_at)), VALUES(last_outbound_at)),
       last_activity_at = GREATEST(last_activity_at, VALUES(last_outbound_at)),
       last_sms_id = GREATEST(last_sms_id, VALUES(last_sms_id))`,
    [
      locked.map((record) => {
        const texts = byConversation.get(record.id)!.map(([text]) => text);
        const { id: lastSmsId, createdAt: lastOutboundAt } = texts.reduce((one, other) =>
          other.id > one.id ? other : one,
        );
        return sentTo.toValues({ ...record, outboundCount: texts.length, lastOutboundAt, lastSmsId });
      }),
    ],
  );
}

/** Sets the figures that the conversation has from now on; its row must be locked. */
export function updateConversationOpened(workspaceId: string, record: ConversationRecord): Promise<void> {
  return updateRow(workspaceId, opened, { ...record, isOpen: true });
}

type ConversationFilter = {
  number?: string | undefined;
  sender?: string | undefined;
  /** Only conversations whose last text is not older than this. */
  since?: Date | undefined;
};
/** Where the page before ended. */
export type ConversationPlace = { at: string; id: string };

/** Latest activity first. */
export async function listConversations(
  workspaceId: string,
  { number, sender, since }: ConversationFilter,
  { limit, after }: { limit: number; after: ConversationPlace | null },
): Promise<ConversationRecord[]> {
  const index =
    number !== undefined
      ? 'conversations_pair'
      : sender !== undefined
        ? 'conversations_of_sender'
        : 'conversations_listed';
  const at = after && new Date(after.at);
  const conditions: [sql: string, values: unknown[] | null][] = [
    ['workspace_id = ? AND last_activity_at IS NOT NULL', [idToBytes(workspaceId)]],
    ['number = ?', number === undefined ? null : [Buffer.from(number)]],
    ['sender_key = ?', sender === undefined ? null : [Buffer.from(keyOfAddress(sender))]],
    ['last_activity_at >= ?', since ? [since] : null],
    // Two conditions, because only the first of them lets the server read the index as a range.
    ['last_activity_at <= ? AND (last_activity_at < ? OR id < ?)', after && [at, at, idToBytes(after.id)]],
  ];
  const given = conditions.filter(([, values]) => values !== null);
  return shown.toRecords(
    await query(
      `SELECT * FROM conversations FORCE INDEX (${index}) WHERE ${given.map(([sql]) => sql).join(' AND ')}
     ORDER BY last_activity_at DESC, id DESC LIMIT ?`,
      [...given.flatMap(([, values]) => values!), limit],
    ),
  );
}
