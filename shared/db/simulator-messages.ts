import { idFromBytes, idToBytes, newUuid } from '../formats/ids.ts';
import { type Changed, execute, query, transaction } from './client.ts';

export type NewSimulatorMessage = {
  /** That of the message, which is then kept once; or the simulator's own. */
  id?: string;
  /** The phone's, in E.164. */
  number: string;
  /** As the workspace sees it. */
  direction: 'outbound' | 'inbound';
  /** What the phone has its text from, or sends it to. */
  sender: string;
  content: string;
  parts: number;
  createdAt: Date;
  /** When the phone is to report it, or to answer; none: it does neither. */
  answerDueAt?: Date;
};

/** Returns the id, in hexadecimal. */
export async function insertSimulatorMessage(
  workspaceId: string,
  record: NewSimulatorMessage,
): Promise<string> {
  const id = record.id === undefined ? newUuid(record.createdAt) : idToBytes(record.id);
  const own = idToBytes(workspaceId);
  const [number, sender] = [Buffer.from(record.number), Buffer.from(record.sender)];
  // Together: a text that is given again must find either both or none.
  await transaction(async () => {
    await execute(
      'INSERT IGNORE INTO simulator_phones (id, workspace_id, number, created_at) VALUES (?, ?, ?, ?)',
      [newUuid(record.createdAt), own, number, record.createdAt],
    );
    const { direction, content, parts, createdAt, answerDueAt } = record;
    const { affectedRows } = await execute<Changed>(
      `INSERT IGNORE INTO simulator_messages (id, workspace_id, number, direction, sender, content, parts, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [id, own, number, direction, sender, content, parts, createdAt],
    );
    if (answerDueAt && affectedRows === 1)
      await execute(
        'INSERT INTO simulator_answers (id, workspace_id, number, sender, due_at) VALUES (?, ?, ?, ?, ?)',
        [id, own, number, sender, answerDueAt],
      );
  });
  return id.toString('hex');
}

export type PhoneRecord = { id: string; number: string; createdAt: Date };

/** Newest first; `before` is the id that the last page ended with. */
export async function listSimulatorPhones(
  workspaceId: string,
  page: { limit: number; before: string | null },
): Promise<PhoneRecord[]> {
  const rows = await query(
    `SELECT * FROM simulator_phones FORCE INDEX (simulator_phones_listed) WHERE workspace_id = ? AND id < ?
     ORDER BY id DESC LIMIT ?`,
    [
      idToBytes(workspaceId),
      page.before === null ? Buffer.alloc(16, 0xff) : idToBytes(page.before),
      page.limit,
    ],
  );
  return rows.map((row) => ({
    id: idFromBytes('phone', row.id),
    number: row.number.toString(),
    createdAt: row.created_at,
  }));
}

export type SimulatorMessageRecord = Omit<NewSimulatorMessage, 'id' | 'answerDueAt'>;

/** The last texts of each of these phones, oldest first. */
export async function listSimulatorMessages(
  workspaceId: string,
  numbers: string[],
  ofEach: number,
): Promise<Map<string, SimulatorMessageRecord[]>> {
  if (numbers.length === 0) return new Map();
  const rows = await query(
    numbers
      .map(
        () => `(SELECT * FROM simulator_messages FORCE INDEX (simulator_messages_of_phone)
          WHERE workspace_id = ? AND number = ? ORDER BY id DESC LIMIT ?)`,
      )
      .join(' UNION ALL '),
    numbers.flatMap((number) => [idToBytes(workspaceId), Buffer.from(number), ofEach]),
  );
  const records = rows
    .toSorted((one, other) => Buffer.compare(one.id, other.id))
    .map((row) => ({
      number: row.number.toString(),
      direction: row.direction,
      sender: row.sender.toString(),
      content: row.content,
      parts: row.parts,
      createdAt: row.created_at,
    }));
  return Map.groupBy(records, ({ number }) => number);
}

/** Deletes some of the phones' texts, then the phones; returns how many rows went. */
export async function deleteSimulatorPhones(workspaceId: string, limit: number): Promise<number> {
  const own = idToBytes(workspaceId);
  const texts = await query<Changed>('DELETE FROM simulator_messages WHERE workspace_id = ? LIMIT ?', [
    own,
    limit,
  ]);
  if (texts.affectedRows === limit) return limit;
  const phones = await query<Changed>('DELETE FROM simulator_phones WHERE workspace_id = ? LIMIT ?', [
    own,
    limit,
  ]);
  return texts.affectedRows + phones.affectedRows;
}
