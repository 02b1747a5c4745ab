import { execute } from '../client.ts';
import { type ApiKeyRecord, apiKeys } from './api-keys.ts';

/** Looks up a key for authentication. The key tells the workspace, so the query cannot name one. */
export async function findApiKeyByHash(hash: Buffer): Promise<ApiKeyRecord | null> {
  return apiKeys.toFirst(await execute('SELECT * FROM api_keys WHERE hash = ?', [hash]));
}
