import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { SigningAlgorithm } from '../../schemas/scopes.ts';
import { byId, type Changed, query, type Row } from '../client.ts';

/** A key of the customer's own, or the token of a connected app. */
export type KeyKind = 'api_key' | 'app';

export type ApiKeyRecord = {
  id: string;
  workspaceId: string;
  lineageId: string;
  kind: KeyKind;
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
      key_prefix: record.keyPrefix,
      key_last4: record.keyLast4,
      scopes: JSON.stringify(record.scopes),
      created_at: record.createdAt,
      active_from: record.activeFrom,
      ...changeable(record),
    },
  ]);
}

/** Newest first, all of them. */
export async function listApiKeys(workspaceId: string, kind: KeyKind): Promise<ApiKeyRecord[]> {
  const rows = await query('SELECT * FROM api_keys WHERE workspace_id = ? AND kind = ? ORDER BY id DESC', [
    idToBytes(workspaceId),
    kind,
  ]);
  return rows.map(toRecord);
}

export async function findApiKeyCount(workspaceId: string, kind: KeyKind): Promise<number> {
  const [row] = await query('SELECT COUNT(*) AS found FROM api_keys WHERE workspace_id = ? AND kind = ?', [
    idToBytes(workspaceId),
    kind,
  ]);
  return row!.found;
}

const one = 'SELECT * FROM api_keys WHERE workspace_id = ? AND id = ? AND kind = ?';

export async function findApiKey(
  workspaceId: string,
  kind: KeyKind,
  keyId: string,
): Promise<ApiKeyRecord | null> {
  const [row] = await query(one, [idToBytes(workspaceId), idToBytes(keyId), kind]);
  return row ? toRecord(row) : null;
}

/** Nobody else changes it until the transaction ends. */
export async function findApiKeyForUpdate(
  workspaceId: string,
  kind: KeyKind,
  keyId: string,
): Promise<ApiKeyRecord | null> {
  const [row] = await query(`${one} FOR UPDATE`, [idToBytes(workspaceId), idToBytes(keyId), kind]);
  return row ? toRecord(row) : null;
}

/** The newest key of a lineage; null when none is left. */
export async function findNewestOfLineage(workspaceId: string, lineageId: string): Promise<string | null> {
  const [row] = await query(
    'SELECT id FROM api_keys WHERE workspace_id = ? AND lineage_id = ? ORDER BY id DESC LIMIT 1',
    [idToBytes(workspaceId), idToBytes(lineageId)],
  );
  return row ? idFromBytes('key', row.id) : null;
}

/** Writes what can change in a key. */
export async function updateApiKey(workspaceId: string, record: ApiKeyRecord): Promise<void> {
  await query(`UPDATE api_keys ${byId} SET ? WHERE workspace_id = ? AND id = ?`, [
    changeable(record),
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

function changeable(record: ApiKeyRecord) {
  return {
    name: record.name,
    api_version: record.apiVersion,
    expires_at: record.expiresAt,
    strict_mode: record.strictMode,
    daily_parts: record.dailyParts,
    monthly_parts: record.monthlyParts,
    signing_algorithm: record.signingAlgorithm,
    public_key: record.publicKey,
    signing_secret: record.signingSecret,
    previous_signing_secret: record.previousSigningSecret,
    previous_signing_secret_until: record.previousSigningSecretUntil,
  };
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
