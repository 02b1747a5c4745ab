import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { SigningAlgorithm } from '../../schemas/scopes.ts';
import { binaryText, boolean, bytes, id, int, json, text, time } from '../client/columns.ts';
import { countRows, deleteRow, findRow, insertRow, listRows, updateRow } from '../client/rows.ts';
import { type RecordOf, type RowOf, table } from '../client/table.ts';
import { query } from '../client.ts';

/** The API keys of a workspace, and the tokens of apps that are connected to it. */

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
  /**
   * When the key was rotated. Since then `expiresAt` is the end of the overlap, and `ownExpiresAt` the key's own
   * expiry.
   */
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
export function insertApiKey(workspaceId: string, record: ApiKeyRecord, hash: Buffer): Promise<void> {
  return insertRow(workspaceId, apiKeys, record, { hash });
}

/** Newest first, all of them. */
export function listApiKeys(workspaceId: string, kind: KeyKind): Promise<ApiKeyRecord[]> {
  return listRows(workspaceId, apiKeys, { kind }, 'id DESC');
}

export function findApiKeyCount(workspaceId: string, kind: KeyKind): Promise<number> {
  return countRows(workspaceId, apiKeys, { kind });
}

export function findApiKey(workspaceId: string, kind: KeyKind, keyId: string): Promise<ApiKeyRecord | null> {
  return findRow(workspaceId, apiKeys, { id: keyId, kind });
}

/** Locks the key: no other transaction changes it until this one ends. */
export function findApiKeyForUpdate(
  workspaceId: string,
  kind: KeyKind,
  keyId: string,
): Promise<ApiKeyRecord | null> {
  return findRow(workspaceId, apiKeys, { id: keyId, kind }, 'FOR UPDATE');
}

/** The newest key of a lineage; null when none is left. */
export async function findNewestOfLineage(workspaceId: string, lineageId: string): Promise<string | null> {
  const [row] = await query<Pick<RowOf<typeof apiKeys>, 'id'>[]>(
    'SELECT id FROM api_keys WHERE workspace_id = ? AND lineage_id = ? ORDER BY id DESC LIMIT 1',
    [idToBytes(workspaceId), idToBytes(lineageId)],
  );
  return row ? idFromBytes('key', row.id) : null;
}

export function updateApiKey(workspaceId: string, record: ApiKeyRecord): Promise<void> {
  return updateRow(workspaceId, changing, record);
}

export function deleteApiKey(workspaceId: string, kind: KeyKind, keyId: string): Promise<boolean> {
  return deleteRow(workspaceId, apiKeys, { id: keyId, kind });
}
