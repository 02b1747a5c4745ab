import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { SigningAlgorithm } from '../../schemas/scopes.ts';
import { binaryText, boolean, bytes, id, int, json, text, time } from '../client/columns.ts';
import { type RecordOf, type RowOf, table } from '../client/table.ts';
import { byId, type Changed, query } from '../client.ts';

/** A key of the customer's own, or the token of a connected app. */
export type KeyKind = 'api_key' | 'app';

export const apiKeys = table('api_keys', {
  id: id('key'),
  workspaceId: id('workspace'),
  lineageId: id('key'),
  kind: text<KeyKind>(),
  name: text().nullable(),
  keyPrefix: binaryText(),
  keyLast4: binaryText(),
  scopes: json<string[]>(),
  apiVersion: text().nullable(),
  createdAt: time(),
  activeFrom: time(),
  expiresAt: time().nullable(),
  /** From then on `expiresAt` is the end of the rotation's overlap, and `ownExpiresAt` the expiry given to the key. */
  rotatedAt: time().nullable(),
  ownExpiresAt: time().nullable(),
  strictMode: boolean(),
  dailyParts: int().nullable(),
  monthlyParts: int().nullable(),
  signingAlgorithm: text<SigningAlgorithm>().nullable(),
  /** SubjectPublicKeyInfo PEM; null unless ecdsa. */
  publicKey: text().nullable(),
  /** Sealed with the key's id; null unless hmac. */
  signingSecret: bytes().nullable(),
  previousSigningSecret: bytes().nullable(),
  previousSigningSecretUntil: time().nullable(),
});
/** All that can change in a key. */
const changing = apiKeys.omit(
  'id',
  'workspaceId',
  'lineageId',
  'kind',
  'keyPrefix',
  'keyLast4',
  'scopes',
  'createdAt',
  'activeFrom',
);
export type ApiKeyRecord = RecordOf<typeof apiKeys>;

/** `hash` is the SHA-256 of the key; the key itself is never stored. */
export async function insertApiKey(workspaceId: string, record: ApiKeyRecord, hash: Buffer): Promise<void> {
  await query('INSERT INTO api_keys SET ?', [
    { ...apiKeys.toRow(record), workspace_id: idToBytes(workspaceId), hash },
  ]);
}

/** Newest first, all of them. */
export async function listApiKeys(workspaceId: string, kind: KeyKind): Promise<ApiKeyRecord[]> {
  return apiKeys.toRecords(
    await query('SELECT * FROM api_keys WHERE workspace_id = ? AND kind = ? ORDER BY id DESC', [
      idToBytes(workspaceId),
      kind,
    ]),
  );
}

export async function findApiKeyCount(workspaceId: string, kind: KeyKind): Promise<number> {
  const [row] = await query<{ found: number }[]>(
    'SELECT COUNT(*) AS found FROM api_keys WHERE workspace_id = ? AND kind = ?',
    [idToBytes(workspaceId), kind],
  );
  return row!.found;
}

const one = 'SELECT * FROM api_keys WHERE workspace_id = ? AND id = ? AND kind = ?';

export async function findApiKey(
  workspaceId: string,
  kind: KeyKind,
  keyId: string,
): Promise<ApiKeyRecord | null> {
  return apiKeys.toFirst(await query(one, [idToBytes(workspaceId), idToBytes(keyId), kind]));
}

/** Locks the key: no other transaction changes it until this one ends. */
export async function findApiKeyForUpdate(
  workspaceId: string,
  kind: KeyKind,
  keyId: string,
): Promise<ApiKeyRecord | null> {
  return apiKeys.toFirst(await query(`${one} FOR UPDATE`, [idToBytes(workspaceId), idToBytes(keyId), kind]));
}

/** The newest key of a lineage; null when none is left. */
export async function findNewestOfLineage(workspaceId: string, lineageId: string): Promise<string | null> {
  const [row] = await query<Pick<RowOf<typeof apiKeys>, 'id'>[]>(
    'SELECT id FROM api_keys WHERE workspace_id = ? AND lineage_id = ? ORDER BY id DESC LIMIT 1',
    [idToBytes(workspaceId), idToBytes(lineageId)],
  );
  return row ? idFromBytes('key', row.id) : null;
}

export async function updateApiKey(workspaceId: string, record: ApiKeyRecord): Promise<void> {
  await query(`UPDATE api_keys ${byId} SET ? WHERE workspace_id = ? AND id = ?`, [
    changing.toRow(record),
    idToBytes(workspaceId),
    idToBytes(record.id),
  ]);
}

export async function deleteApiKey(workspaceId: string, kind: KeyKind, keyId: string): Promise<boolean> {
  const { affectedRows } = await query<Changed>(
    `DELETE k FROM api_keys k ${byId} WHERE workspace_id = ? AND id = ? AND kind = ?`,
    [idToBytes(workspaceId), idToBytes(keyId), kind],
  );
  return affectedRows === 1;
}
