import { query, transaction } from '../../../shared/db/client.ts';
import * as contactBatches from '../../../shared/domain/contacts/batches.ts';
import { idFromBytes, idToBytes } from '../../../shared/formats/ids.ts';
import type { Caller } from '../../../shared/schemas/scopes.ts';
import { atEnd } from '../runner/at-end.ts';
import type { workspace } from './factory.ts';

type Owner = Pick<Awaited<ReturnType<typeof workspace>>, 'workspaceId'>;

let numbers = 0;
/** Returns a number that no other contact of this file has. */
export function newNumber(): string {
  numbers += 1;
  return `+4477${String(10_000_000 + numbers)}`;
}

/** Makes this many contacts and returns their ids, oldest first. */
export async function makeContacts(
  { workspaceId }: Owner,
  count: number,
  texts: { firstName?: string; company?: string; clientReference?: string } = {},
): Promise<string[]> {
  const made: string[] = [];
  for (let left = count; left > 0; left -= 1_000) {
    const contacts = Array.from({ length: Math.min(1_000, left) }, () => ({ number: newNumber(), ...texts }));
    const prepared = await contactBatches.prepare({ contacts });
    await transaction(() => contactBatches.save({ workspaceId } as Caller, prepared));
    const rows = await query<{ id: Buffer }[]>(
      'SELECT id FROM contacts WHERE workspace_id = ? AND number IN (?)',
      [idToBytes(workspaceId), contacts.map(({ number }) => Buffer.from(number))],
    );
    made.push(...rows.map((row) => idFromBytes('contact', row['id'])));
  }
  return made.toSorted();
}

/** Returns the contact ids in all member rows of a list, oldest first. */
export async function memberRowsOf(listId: string): Promise<string[]> {
  const rows = await query<{ contact_id: Buffer }[]>(
    'SELECT contact_id FROM contact_list_members WHERE list_id = ? ORDER BY contact_id',
    [idToBytes(listId)],
  );
  return rows.map((row) => idFromBytes('contact', row['contact_id']));
}

/** Locks the contact's row. A change that makes the contact a member waits until the returned function is called. */
export async function holdContact({ workspaceId }: Owner, contactId: string): Promise<() => Promise<void>> {
  const { promise: held, resolve: isHeld } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const holder = transaction(async () => {
    await query('SELECT id FROM contacts WHERE workspace_id = ? AND id = ? FOR UPDATE', [
      idToBytes(workspaceId),
      idToBytes(contactId),
    ]);
    isHeld();
    await over;
  });
  await held;
  const release = async () => {
    end();
    await holder;
  };
  atEnd(release);
  return release;
}
