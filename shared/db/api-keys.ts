import { idFromBytes, idToBytes } from '../formats/ids.ts';
import type { SigningAlgorithm } from '../schemas/scopes.ts';
import { query, type Row } from './client.ts';

export type ApiKeyRecord = {
  id: string;
  workspaceId: string;
  lineageId: string;
  kind: 'api_key' | 'app';
  name: string | null;
  keyPrefix: string;
  keyLast4: string;
  scopes: string[];
  apiVersion: string | null;
  createdAt: Date;
  activeFrom: Date;
  expiresAt: Date | null;
  strictMode: boolean;
  dailyParts: number | null;
  monthlyParts: number | null;
  signingAlgorithm: SigningAlgorithm | null;
  /** SubjectPublicKeyInfo PEM; null unless ecdsa. */
  publicKey: string | null;
  /** Sealed with the key's id; null unless hmac. */
  signingSecret: Buffer | null;
  previousSigningSecret: Buffer | null;
  previousSigningSecretUntil: Date | null;
};

/** `hash` is the SHA-256 of the key; the key itself is never stored. */
export async function insertApiKey(workspaceId: string, record: ApiKeyRecord, hash: Buffer): Promise<void> {
  await query('INSERT INTO api_keys SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      lineage_id: idToBytes(record.lineageId),
      kind: record.kind,
      hash,
      name: record.name,
      key_prefix: record.keyPrefix,
      key_last4: record.keyLast4,
      scopes: JSON.stringify(record.scopes),
      api_version: record.apiVersion,
      created_at: record.createdAt,
      active_from: record.activeFrom,
      expires_at: record.expiresAt,
      strict_mode: record.strictMode,
      daily_parts: record.dailyParts,
      monthly_parts: record.monthlyParts,
      signing_algorithm: record.signingAlgorithm,
      public_key: record.publicKey,
      signing_secret: record.signingSecret,
      previous_signing_secret: record.previousSigningSecret,
      previous_signing_secret_until: record.previousSigningSecretUntil,
    },
  ]);
}

export async function listApiKeys(workspaceId: string): Promise<ApiKeyRecord[]> {
  const rows = await query('SELECT * FROM api_keys WHERE workspace_id = ? ORDER BY id DESC', [
    idToBytes(workspaceId),
  ]);
  return rows.map(toRecord);
}

export async function deleteApiKey(workspaceId: string, keyId: string): Promise<boolean> {
  const { affectedRows } = await query<{ affectedRows: number }>(
    'DELETE FROM api_keys WHERE workspace_id = ? AND id = ?',
    [idToBytes(workspaceId), idToBytes(keyId)],
  );
  return affectedRows === 1;
}

export function toRecord(row: Row): ApiKeyRecord {
  return {
    id: idFromBytes('key', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    lineageId: idFromBytes('key', row.lineage_id),
    kind: row.kind,
    name: row.name,
    keyPrefix: row.key_prefix.toString(),
    keyLast4: row.key_last4.toString(),
    scopes: JSON.parse(row.scopes),
    apiVersion: row.api_version,
    createdAt: row.created_at,
    activeFrom: row.active_from,
    expiresAt: row.expires_at,
    strictMode: row.strict_mode === 1,
    dailyParts: row.daily_parts,
    monthlyParts: row.monthly_parts,
    signingAlgorithm: row.signing_algorithm,
    publicKey: row.public_key,
    signingSecret: row.signing_secret,
    previousSigningSecret: row.previous_signing_secret,
    previousSigningSecretUntil: row.previous_signing_secret_until,
  };
}
