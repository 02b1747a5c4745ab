import { binaryText, int, text, time } from '../client/columns.ts';
import { type RecordOf, table } from '../client/table.ts';
import { byId, changeRows, execute, query } from '../client.ts';

/** Inbound texts from gateways, before they belong to a workspace. */

const parts = table('sms_inbound_parts', {
  gateway: binaryText(),
  sender: binaryText(),
  recipient: binaryText(),
  reference: int(),
  total: int(),
  part: int(),
  content: text(),
  receivedAt: time(),
});
/** The columns that tell which text a part belongs to. */
const texts = parts.omit('part', 'content', 'receivedAt');
export type PartedText = RecordOf<typeof texts>;

const ofText = 'gateway = ? AND sender = ? AND recipient = ? AND reference = ? AND total = ?';

/** Stores a part; one that comes again replaces the first. */
export async function insertInboundPart(
  text: PartedText,
  { part, content, at }: { part: number; content: string; at: Date },
): Promise<void> {
  const row = { ...text, part, content: storable(content), receivedAt: at };
  await query('REPLACE INTO sms_inbound_parts SET ?', [parts.toRow(row)]);
}

/** Lists the parts that have come, in order, locked until the transaction ends. */
export async function listInboundPartsForUpdate(text: PartedText): Promise<string[]> {
  const rows = await execute<{ content: string }[]>(
    `SELECT content FROM sms_inbound_parts ${byId} WHERE ${ofText} ORDER BY part FOR UPDATE`,
    texts.toValues(text),
  );
  return rows.map((row) => asItCame(row.content));
}

export async function deleteInboundParts(text: PartedText): Promise<void> {
  await execute(`DELETE p FROM sms_inbound_parts p ${byId} WHERE ${ofText}`, texts.toValues(text));
}

// Phones cut a text where a part is full, even inside a surrogate pair. MySQL cannot store half a pair, so each half is
// stored as four hex digits after a character that no text has (Unicode §23.7), until the parts are joined.
const mark = '\ufdd0';
// Only at the ends: a half elsewhere belongs to no cut pair.
const storable = (content: string) =>
  content
    .replaceAll(/^\p{Surrogate}|\p{Surrogate}$/gu, (half) => mark + half.charCodeAt(0).toString(16))
    .toWellFormed();
const asItCame = (content: string) =>
  content.replaceAll(/\ufdd0(d[89a-f][0-9a-f]{2})/g, (_, digits) =>
    String.fromCharCode(parseInt(digits, 16)),
  );

/** Lists texts with parts that have waited since before then. */
export async function listInboundTextsBefore(until: Date, limit: number): Promise<PartedText[]> {
  return texts.toRecords(
    await query(
      `SELECT DISTINCT ${texts.columns} FROM sms_inbound_parts
     WHERE received_at < ? LIMIT ?`,
      [until, limit],
    ),
  );
}

/**
 * Makes the key of a text that we have not yet confirmed to its gateway. Its last byte is the place among equal texts.
 */
function unansweredKey(digest: Buffer, place: number): Buffer {
  const key = Buffer.from(digest);
  key[key.length - 1] = place;
  return key;
}

/** Lists the places of equal texts that have come since `after` and are not yet confirmed to their gateway. */
export async function listUnansweredPlaces(digest: Buffer, after: Date): Promise<number[]> {
  const rows = await execute<{ digest: Buffer }[]>(
    'SELECT digest FROM sms_inbound_unanswered WHERE digest >= ? AND digest <= ? AND received_at >= ?',
    [unansweredKey(digest, 0), unansweredKey(digest, 255), after],
  );
  return rows.map(({ digest: key }) => key.at(-1)!);
}

/** Takes a place for a text; false where another text has had it since `after`. */
export async function insertUnanswered(
  digest: Buffer,
  place: number,
  { at, after }: { at: Date; after: Date },
): Promise<boolean> {
  const key = unansweredKey(digest, place);
  await execute(`DELETE u FROM sms_inbound_unanswered u ${byId} WHERE digest = ? AND received_at < ?`, [
    key,
    after,
  ]);
  const changed = await changeRows(
    'INSERT IGNORE INTO sms_inbound_unanswered (digest, received_at) VALUES (?)',
    [[key, at]],
  );
  return changed === 1;
}

export async function deleteUnanswered(digest: Buffer, place: number): Promise<void> {
  await execute(`DELETE u FROM sms_inbound_unanswered u ${byId} WHERE digest = ?`, [
    unansweredKey(digest, place),
  ]);
}
