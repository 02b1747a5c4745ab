import { batcher } from '../../batcher.ts';
import { idToBytes } from '../../formats/ids.ts';
import { type Changed, execute, isDuplicateKey, isLockConflict, query, transaction } from '../client.ts';

type Nonce = { keyId: string; nonceHash: Buffer; expiresAt: Date };
const columns = '(key_id, nonce_hash, expires_at)';

/** Remembers the nonce of a key; false when it is known already. Authentication has found the key, and so its workspace. */
export function insertNonce(keyId: string, nonceHash: Buffer, expiresAt: Date): Promise<boolean> {
  return insert({ keyId, nonceHash, expiresAt });
}

/** Requests of one moment go in together. */
const insert = batcher<Nonce, boolean>({
  maxItems: 100,
  maxInFlight: 3,
  run: async (nonces) => {
    // In the order of the key: two batches that wait for each other would be a deadlock.
    const rows = nonces.map(toRow).toSorted(inOrder);
    if (rows.length > 1 && (await areNew(rows))) return nonces.map(() => true);
    // One of them is known; which, only single statements tell.
    return Promise.all(nonces.map((nonce) => isNew(toRow(nonce))));
  },
});

type NonceRow = [keyId: Buffer, nonceHash: Buffer, expiresAt: Date];
const toRow = ({ keyId, nonceHash, expiresAt }: Nonce): NonceRow => [idToBytes(keyId), nonceHash, expiresAt];
const inOrder = (one: NonceRow, other: NonceRow) => one[0].compare(other[0]) || one[1].compare(other[1]);

/** Where a batch is taken back, those who wait for a row of it deadlock: a transaction tries that again. */
async function isNew(row: NonceRow): Promise<boolean> {
  try {
    return await areNew([row]);
  } catch (error) {
    if (!isLockConflict((error as Error).cause)) throw error;
    return transaction(() => areNew([row]));
  }
}

/** All or none go in. */
async function areNew(rows: NonceRow[]): Promise<boolean> {
  try {
    if (rows.length === 1) await execute(`INSERT INTO request_nonces ${columns} VALUES (?, ?, ?)`, rows[0]);
    else await query(`INSERT INTO request_nonces ${columns} VALUES ?`, [rows]);
    return true;
  } catch (error) {
    // Several may also have met a deadlock; one by one they say what is wrong.
    if (rows.length > 1 || isDuplicateKey(error)) return false;
    throw error;
  }
}

/** Deletes a batch of those that expired before then; returns how many went. */
export async function deleteNoncesBefore(at: Date, limit: number): Promise<number> {
  const { affectedRows } = await query<Changed>(
    'DELETE FROM request_nonces WHERE expires_at < ? ORDER BY expires_at LIMIT ?',
    [at, limit],
  );
  return affectedRows;
}
