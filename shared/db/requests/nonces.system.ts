import { idToBytes } from '../../formats/ids.ts';
import { execute, isDuplicateKey } from '../client.ts';

/** Remembers the nonce of a key; false when it is known already. Authentication has found the key, and so its workspace. */
export async function insertNonce(keyId: string, nonceHash: Buffer, expiresAt: Date): Promise<boolean> {
  try {
    await execute('INSERT INTO request_nonces (key_id, nonce_hash, expires_at) VALUES (?, ?, ?)', [
      idToBytes(keyId),
      nonceHash,
      expiresAt,
    ]);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
