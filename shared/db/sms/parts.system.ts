import { idToBytes } from '../../formats/ids.ts';
import { fitting } from '../client/outside-text.ts';
import { byId, execute, query } from '../client.ts';
import { type SmsRecord, sms } from './messages.ts';

/** The references that gateways give to the parts of long texts. */

type TakenPart = {
  smsId: string;
  gateway: string;
  part: number;
  reference: string;
  /** A receipt may name it. */
  isAwaited: boolean;
};

/** Stores the references of parts. A reference that the gateway gives again then belongs to the newer text. */
export async function insertSmsParts(parts: TakenPart[], at: Date): Promise<void> {
  if (parts.length === 0) return;
  const rows = parts.map(({ smsId, gateway, part, reference, isAwaited }) => [
    Buffer.from(gateway),
    nameOf(reference),
    idToBytes(smsId),
    part,
    // A part that no receipt can name counts as delivered: the text is delivered when all other parts are.
    !isAwaited,
    at,
  ]);
  await query('REPLACE INTO sms_parts (gateway, reference, sms_id, part, delivered, taken_at) VALUES ?', [
    rows,
  ]);
}

export async function listSmsParts(
  smsId: string,
  gateway: string,
): Promise<{ part: number; reference: string }[]> {
  const rows = await execute<{ part: number; reference: Buffer }[]>(
    'SELECT part, reference FROM sms_parts WHERE sms_id = ? AND gateway = ?',
    [idToBytes(smsId), Buffer.from(gateway)],
  );
  return rows.map((row) => ({ part: row.part, reference: row.reference.toString() }));
}

/** Returns the text that this part belongs to, locked until the transaction ends. */
export async function findSmsOfPartForUpdate(gateway: string, reference: string): Promise<SmsRecord | null> {
  const [found] = await execute<{ sms_id: Buffer }[]>(
    'SELECT sms_id FROM sms_parts WHERE gateway = ? AND reference = ?',
    [Buffer.from(gateway), nameOf(reference)],
  );
  if (!found) return null;
  return sms.toFirst(
    await execute(`SELECT * FROM sms_messages ${byId} WHERE id = ? FOR UPDATE`, [found.sms_id]),
  );
}

/**
 * Marks the part as delivered; tells whether all parts of its text are now that this gateway has. The text must be
 * locked.
 */
export async function updateSmsPartDelivered(
  smsId: string,
  gateway: string,
  reference: string,
): Promise<{ areAll: boolean }> {
  const name = Buffer.from(gateway);
  await execute('UPDATE sms_parts SET delivered = 1 WHERE gateway = ? AND reference = ?', [
    name,
    nameOf(reference),
  ]);
  const [left] = await execute(
    'SELECT 1 FROM sms_parts WHERE sms_id = ? AND gateway = ? AND delivered = 0 LIMIT 1',
    [idToBytes(smsId), name],
  );
  return { areAll: !left };
}

const nameOf = (reference: string) => Buffer.from(fitting('sms_parts.reference', reference));
