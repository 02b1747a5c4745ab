import { execute } from '../client.ts';
import { type ApiKeyRecord, apiKeys } from './api-keys.ts';

/** Authentication's look-up: the key tells the workspace, so there is none to ask with. */
export async function findApiKeyByHash(hash: Buffer): Promise<ApiKeyRecord | null> {
  return apiKeys.toFirst(await execute('SELECT * FROM api_keys WHERE hash = ?', [hash]));
}
