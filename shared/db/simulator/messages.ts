import { batcherByLane } from '../../common/batcher.ts';
import { idToBytes, newId, newUuid } from '../../formats/ids.ts';
import type { NumberRange } from '../../formats/sms/phone-number.ts';
import type { SmsLane } from '../../schemas/lanes.ts';
import { binaryText, bytes, hexId, id, int, sharedId, text, time } from '../client/columns.ts';
import { type RecordOf, type RowOf, table } from '../client/table.ts';
import { changeRows, outsideTransaction, query, transaction } from '../client.ts';
import { workColumns } from '../work/columns.ts';

/** The phones of the simulator and their texts. */

type NewSimulatorMessage = Omit<SimulatorMessageRecord, 'id' | 'workspaceId'> & {
  /** The id of the message, so that a text that is given again is kept once. Without it the simulator makes an id. */
  id?: string;
  /** When the phone is to report the text, or to answer it; without a time it does neither. */
  answerDueAt?: Date;
};

/** Stores the text in the current transaction. */
export function insertSimulatorMessage(workspaceId: string, record: NewSimulatorMessage): Promise<void> {
  return insertAll([toItem(workspaceId, record)]);
}

/** Stores the text in one transaction with others of the same moment and lane. Returns its id, in hexadecimal. */
export async function insertSimulatorMessageSoon(
  workspaceId: string,
  lane: SmsLane,
  record: NewSimulatorMessage,
): Promise<string> {
  const item = { ...toItem(workspaceId, record), lane };
  await outsideTransaction(() => inserts(item));
  return item.id.toString('hex');
}

function toItem(workspaceId: string, record: NewSimulatorMessage): MessageToInsert {
  const id = record.id === undefined ? newUuid(record.createdAt) : idToBytes(record.id);
  return { id, workspaceId, record };
}

type MessageToInsert = { id: Buffer; workspaceId: string; record: NewSimulatorMessage };

const inserts = batcherByLane<MessageToInsert & { lane: SmsLane }, void>({
  laneOf: ({ lane }) => lane,
  maxItems: 100,
  maxInFlight: 2,
  run: async (items) => {
    // In one transaction: a text that is given again must find either all of its rows or none.
    await transaction(() => insertAll(items));
    return items.map(() => undefined);
  },
});

async function insertAll(items: MessageToInsert[]): Promise<void> {
  const seen = items.map(({ workspaceId, record: { number, createdAt } }) =>
    phones.toValues({ id: newId('phone', createdAt), workspaceId, number, createdAt }),
  );
  await query(`INSERT IGNORE INTO ${phones.into} VALUES ?`, [seen]);
  const known = await query<{ id: Buffer }[]>('SELECT id FROM simulator_messages WHERE id IN (?)', [
    items.map(({ id }) => id),
  ]);
  const isKnown = new Set(known.map((row) => row.id.toString('hex')));
  const fresh = items.filter(({ id }) => !isKnown.has(id.toString('hex')));
  if (fresh.length === 0) return;
  await query(`INSERT IGNORE INTO ${messages.into} VALUES ?`, [
    fresh.map(({ id, workspaceId, record }) => messages.toValues({ ...record, id, workspaceId })),
  ]);
  // The answers are parked, because the code that hands texts over does not know how many jobs their workspace has.
  const due = fresh.flatMap(({ id, workspaceId, record: { number, sender, answerDueAt: dueAt } }) =>
    dueAt
      ? [owed.toValues({ id: id.toString('hex'), workspaceId, number, sender, dueAt, parked: true })]
      : [],
  );
  if (due.length > 0) await query(`INSERT IGNORE INTO ${owed.into} VALUES ?`, [due]);
}

const phones = table('simulator_phones', {
  id: id('phone'),
  workspaceId: sharedId('workspace'),
  number: binaryText(),
  createdAt: time(),
});
export type PhoneRecord = RecordOf<typeof phones>;

/** The actions that a phone still owes to a text that the simulator took, by the simulator's reference. */
export const answers = table('simulator_answers', {
  id: hexId(),
  workspaceId: sharedId('workspace'),
  number: binaryText(),
  sender: binaryText(),
  ...workColumns,
  dueAt: time(),
});
const owed = answers.omit('claims', 'requestId');

/**
 * Newest first; `before` is the id that the last page ended with, `range` the first and the last of the wanted numbers.
 */
export async function listSimulatorPhones(
  workspaceId: string,
  { limit, before, range }: { limit: number; before: string | null; range: NumberRange | null },
): Promise<PhoneRecord[]> {
  const within = 'AND number BETWEEN ? AND ? AND LENGTH(number) = LENGTH(?)';
  return phones.toRecords(
    await query(
      `SELECT * FROM simulator_phones FORCE INDEX (simulator_phones_listed) WHERE workspace_id = ? AND id < ?
     ${range ? within : ''} ORDER BY id DESC LIMIT ?`,
      [
        idToBytes(workspaceId),
        before === null ? Buffer.alloc(16, 0xff) : idToBytes(before),
        ...(range ? [range.first, range.last, range.last].map((number) => Buffer.from(number)) : []),
        limit,
      ],
    ),
  );
}

const messages = table('simulator_messages', {
  id: bytes(),
  workspaceId: sharedId('workspace'),
  /** The number of the phone, in E.164. */
  number: binaryText(),
  /** As the workspace sees it. */
  direction: text<'outbound' | 'inbound'>(),
  /** The sender that the phone received the text from, or sends its text to. */
  sender: binaryText(),
  content: text(),
  parts: int(),
  createdAt: time(),
});
export type SimulatorMessageRecord = RecordOf<typeof messages>;

/** The last texts of each of these phones, oldest first. */
export async function listSimulatorMessages(
  workspaceId: string,
  numbers: string[],
  ofEach: number,
): Promise<Map<string, SimulatorMessageRecord[]>> {
  if (numbers.length === 0) return new Map();
  const rows = await query<RowOf<typeof messages>[]>(
    numbers
      .map(
        () => `(SELECT * FROM simulator_messages FORCE INDEX (simulator_messages_of_phone)
          WHERE workspace_id = ? AND number = ? ORDER BY id DESC LIMIT ?)`,
      )
      .join(' UNION ALL '),
    numbers.flatMap((number) => [idToBytes(workspaceId), Buffer.from(number), ofEach]),
  );
  const records = messages.toRecords(rows.toSorted((one, other) => Buffer.compare(one.id, other.id)));
  return Map.groupBy(records, ({ number }) => number);
}

/** Deletes some of the phones; returns how many. */
export function deleteSimulatorPhones(workspaceId: string, limit: number): Promise<number> {
  return changeRows('DELETE FROM simulator_phones WHERE workspace_id = ? LIMIT ?', [
    idToBytes(workspaceId),
    limit,
  ]);
}

/** Deletes some of the texts of all phones; returns how many. */
export function deleteSimulatorMessages(workspaceId: string, limit: number): Promise<number> {
  return changeRows('DELETE FROM simulator_messages WHERE workspace_id = ? LIMIT ?', [
    idToBytes(workspaceId),
    limit,
  ]);
}
