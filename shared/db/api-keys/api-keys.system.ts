import type { RecordOf } from '../client/table.ts';
import { execute, query } from '../client.ts';
import { type ApiKeyRecord, apiKeys } from './api-keys.ts';

/** Looks up a key for authentication. The key tells the workspace, so the query cannot name one. */
export async function findApiKeyByHash(hash: Buffer): Promise<ApiKeyRecord | null> {
  return apiKeys.toFirst(await execute('SELECT * FROM api_keys WHERE hash = ?', [hash]));
}

const replaced = apiKeys.pick('id', 'workspaceId');

/**
 * Lists keys that were rotated and had expired by then, and whose lineage has a newer key. The first key of a lineage
 * stays, because reports name the lineage by it.
 */
export async function listReplacedApiKeys(
  expiredBy: Date,
  limit: number,
): Promise<RecordOf<typeof replaced>[]> {
  return replaced.toRecords(
    // A key is rotated before it expires.
    await query(
      `SELECT old.id, old.workspace_id FROM api_keys old
       WHERE old.rotated_at < ? AND old.expires_at < ? AND old.kind = 'api_key' AND old.id <> old.lineage_id AND EXISTS (
         SELECT 1 FROM api_keys newer
         WHERE newer.workspace_id = old.workspace_id AND newer.lineage_id = old.lineage_id AND newer.id > old.id)
       ORDER BY old.rotated_at LIMIT ?`,
      [expiredBy, expiredBy, limit],
    ),
  );
}
