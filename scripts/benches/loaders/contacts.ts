import { migrateUp } from '../../../shared/db/client/migrate.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { authenticate } from '../../../shared/domain/api-keys/callers.ts';
import * as contactBatches from '../../../shared/domain/contacts/batches.ts';
import { encodeCursor } from '../../../shared/domain/requests/cursors.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { idFromBytes, idToBytes } from '../../../shared/formats/ids.ts';
import { startUp } from '../../../shared/lifecycle.ts';
import type { Caller } from '../../../shared/schemas/scopes.ts';
import { contactBatch, hostile, newOfBatch } from '../content.ts';
import { serve } from '../serve.ts';

/** Address books of any size, made by the platform's own functions, as batches would have made them. */
export interface Book {
  key: string;
  workspaceId: string;
}

const batchesAtOnce = 2;

/** Makes a book. `isHostile`: its contacts share nearly all words, which makes searches slow. */
async function book({ batches, isHostile }: { batches: number; isHostile?: boolean }): Promise<Book> {
  const { id: workspaceId } = await workspaces.create({ name: 'Bench' });
  const { key } = await apiKeys.issue(workspaceId);
  const caller: Caller = (await authenticate(key))!;
  const left = Array.from({ length: batches }, (_, index) => index).values();
  const save = async () => {
    for (const index of left) {
      const usual = contactBatch(0, index).contacts.slice(0, newOfBatch);
      const contacts = isHostile ? usual.map(hostile) : usual;
      const prepared = await contactBatches.prepare({ contacts });
      await transaction(() => contactBatches.save(caller, prepared));
    }
  };
  await Promise.all(Array.from({ length: batchesAtOnce }, save));
  return { key, workspaceId };
}

/** Makes other customers with the same contacts and words, so that the tables grow by this factor. */
async function copies({ workspaceId, times }: { workspaceId: string; times: number }): Promise<void> {
  const from = idToBytes(workspaceId);
  const workspaceIds: Buffer[] = [];
  for (let copy = 0; copy < times; copy += 1)
    workspaceIds.push(idToBytes((await workspaces.create({ name: 'Bench' })).id));
  await withoutIndexes('contacts', async () => {
    for (const to of workspaceIds) await copy('contacts', 'id', from, to);
  });
  for (const to of workspaceIds) await copy('contact_words', 'word, contact_id', from, to);
}

/**
 * Fills a table without its indexes and adds them at the end. Inserting millions of rows in random order takes ten
 * times as long as sorting them once.
 */
async function withoutIndexes(table: string, fill: () => Promise<void>): Promise<void> {
  const [created] = await query(`SHOW CREATE TABLE ${table}`);
  const indexes = [...String(created!['Create Table']).matchAll(/^ {2}((?:UNIQUE )?KEY `(\w+)` .+?),?$/gm)];
  await query(`ALTER TABLE ${table} ${indexes.map(([, , name]) => `DROP KEY ${name}`).join(', ')}`);
  await fill();
  await query(`ALTER TABLE ${table} ${indexes.map(([, index]) => `ADD ${index}`).join(', ')}`);
}

async function copy(table: string, key: string, from: Buffer, to: Buffer): Promise<void> {
  const columns = (
    await query(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = DATABASE() AND table_name = ? AND column_name <> 'workspace_id' ORDER BY ordinal_position`,
      [table],
    )
  ).map((row) => String(row['name']));
  await query(
    `INSERT INTO ${table} (workspace_id, ${columns.join(', ')})
     SELECT ?, ${columns.join(', ')} FROM ${table} WHERE workspace_id = ? ORDER BY ${key}`,
    [to, from],
  );
}

type Place = { workspaceId: string; filter: object; after: number };

/** Returns the cursor of the page that comes after `after` contacts. */
async function cursor({ workspaceId, filter, after }: Place): Promise<string> {
  const [row] = await query<{ id: Buffer }[]>(
    'SELECT id FROM contacts WHERE workspace_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?',
    [idToBytes(workspaceId), after - 1],
  );
  return encodeCursor({ workspaceId, listing: 'contacts', filter }, { id: idFromBytes('contact', row!.id) });
}

await migrateUp();
await startUp();
serve({ book, copies, cursor });
