import { firstUuidAt } from '../../formats/ids.ts';
import type { RecordOf } from '../client/table.ts';
import { byId, changeRow, changeRows, execute, query, transaction } from '../client.ts';
import { ofWorkspaces, workTable } from '../work/table.system.ts';
import { answers } from './messages.ts';

/** No worker leases a row: deleting the row is the claim. */
export const answerTable = workTable(answers, { ...ofWorkspaces, index: 'simulator_answers_admission' });

export async function findAnswer(reference: string): Promise<RecordOf<typeof answers> | null> {
  return answers.toFirst(
    await execute('SELECT * FROM simulator_answers WHERE id = ?', [Buffer.from(reference, 'hex')]),
  );
}

/** Claims an answer by deleting its row; false where another worker has done so. */
export function deleteAnswer(reference: string): Promise<boolean> {
  return changeRow('DELETE FROM simulator_answers WHERE id = ?', [Buffer.from(reference, 'hex')]);
}

/** Deletes phones first seen before then that have no texts any more. */
export async function deleteSimulatorPhonesBefore(until: Date, limit: number): Promise<number> {
  const hasTexts = `EXISTS (SELECT 1 FROM simulator_messages m FORCE INDEX (simulator_messages_of_phone)
    WHERE m.workspace_id = p.workspace_id AND m.number = p.number)`;
  const rows = await query<{ id: Buffer }[]>(
    `SELECT p.id FROM simulator_phones p ${byId} WHERE p.id < ? AND NOT ${hasTexts} ORDER BY p.id LIMIT ?`,
    [firstUuidAt(until), limit],
  );
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.id);
  return transaction(async () => {
    // A hand-over to such a phone keeps the phone's row locked until its text is committed.
    await query(`SELECT id FROM simulator_phones ${byId} WHERE id IN (?) FOR UPDATE`, [ids]);
    return changeRows(`DELETE p FROM simulator_phones p ${byId} WHERE p.id IN (?) AND NOT ${hasTexts}`, [
      ids,
    ]);
  });
}
