import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { SenderCountryStatus, SenderKind, SenderStatus } from '../../schemas/senders.ts';
import { listedNewest, type Page } from '../client/listing.ts';
import { byId, bytesOf, type Changed, execute, query, type Row, run } from '../client.ts';

export type CountryRecord = { country: string; status: SenderCountryStatus; reason: string | null };

/** The record by which a mobile number is verified; the code itself is stored nowhere. */
export type CodeRecord = { tag: Buffer; expiresAt: Date; tries: number };

export type SenderRecord = {
  id: string;
  workspaceId: string;
  kind: SenderKind;
  /** Null: a virtual number that is not assigned. */
  name: string | null;
  /** The name without its case. */
  nameKey: string | null;
  /** E.164; null unless it is a virtual number that is assigned. */
  virtualNumber: string | null;
  status: SenderStatus;
  isDefault: boolean;
  sampleContent: string | null;
  businessProfileId: string | null;
  code: CodeRecord | null;
  createdAt: Date;
  /** By code. */
  countries: CountryRecord[];
};

/** Throws the database's duplicate-key error where the name, or the virtual number, is there already. */
export async function insertSender(workspaceId: string, record: SenderRecord): Promise<void> {
  await query('INSERT INTO senders SET ?', [
    {
      id: idToBytes(record.id),
      workspace_id: idToBytes(workspaceId),
      kind: record.kind,
      sample_content: record.sampleContent,
      business_profile_id: record.businessProfileId && idToBytes(record.businessProfileId),
      created_at: record.createdAt,
      ...changing(record),
    },
  ]);
  await insertSenderCountries(workspaceId, record.id, record.countries);
}

/** Everything that may change but its countries. Throws as `insertSender` does. */
export async function updateSender(workspaceId: string, record: SenderRecord): Promise<void> {
  await query(`UPDATE senders ${byId} SET ? WHERE id = ? AND workspace_id = ?`, [
    changing(record),
    idToBytes(record.id),
    idToBytes(workspaceId),
  ]);
}

function changing(record: SenderRecord) {
  return {
    name: bytesOf(record.name),
    name_key: bytesOf(record.nameKey),
    virtual_number: bytesOf(record.virtualNumber),
    status: record.status,
    is_default: record.isDefault,
    code_tag: record.code?.tag ?? null,
    code_expires_at: record.code?.expiresAt ?? null,
    code_tries: record.code?.tries ?? 0,
  };
}

/** Takes one of the tries that the code allows; false where there is none left, or no code that is good now. */
export async function updateSenderTries(
  workspaceId: string,
  id: string,
  at: Date,
  most: number,
): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    `UPDATE senders ${byId} SET code_tries = code_tries + 1
     WHERE id = ? AND workspace_id = ? AND code_expires_at > ? AND code_tries < ?`,
    [idToBytes(id), idToBytes(workspaceId), at, most],
  );
  return affectedRows === 1;
}

export async function insertSenderCountries(
  workspaceId: string,
  id: string,
  countries: CountryRecord[],
): Promise<void> {
  if (countries.length === 0) return;
  await query('INSERT INTO sender_countries (sender_id, workspace_id, country, status, reason) VALUES ?', [
    countries.map(({ country, status, reason }) => [
      idToBytes(id),
      idToBytes(workspaceId),
      country,
      status,
      reason,
    ]),
  ]);
}

export async function updateSenderCountries(
  workspaceId: string,
  id: string,
  countries: CountryRecord[],
): Promise<void> {
  for (const { country, status, reason } of countries)
    await execute(
      `UPDATE sender_countries ${byId} SET status = ?, reason = ?
       WHERE sender_id = ? AND country = ? AND workspace_id = ?`,
      [status, reason, idToBytes(id), country, idToBytes(workspaceId)],
    );
}

export async function findSender(workspaceId: string, id: string): Promise<SenderRecord | null> {
  return findOne(workspaceId, `SELECT * FROM senders ${byId} WHERE id = ? AND workspace_id = ?`, [
    idToBytes(id),
    idToBytes(workspaceId),
  ]);
}

/** Nobody else changes it until the transaction ends. */
export async function findSenderForUpdate(workspaceId: string, id: string): Promise<SenderRecord | null> {
  return findOne(workspaceId, `SELECT * FROM senders ${byId} WHERE id = ? AND workspace_id = ? FOR UPDATE`, [
    idToBytes(id),
    idToBytes(workspaceId),
  ]);
}

export async function findSenderByKey(workspaceId: string, nameKey: string): Promise<SenderRecord | null> {
  return findOne(workspaceId, 'SELECT * FROM senders WHERE workspace_id = ? AND name_key = ?', [
    idToBytes(workspaceId),
    Buffer.from(nameKey),
  ]);
}

export async function findDefaultSender(workspaceId: string): Promise<SenderRecord | null> {
  return findOne(workspaceId, 'SELECT * FROM senders WHERE workspace_id = ? AND is_default = 1', [
    idToBytes(workspaceId),
  ]);
}

export async function findOldestApprovedSender(workspaceId: string): Promise<SenderRecord | null> {
  return findOne(
    workspaceId,
    `SELECT * FROM senders FORCE INDEX (senders_by_status) WHERE workspace_id = ? AND status = 'approved'
     ORDER BY id LIMIT 1`,
    [idToBytes(workspaceId)],
  );
}

/** The one that waits for its code: there is one at most. */
export async function findSenderAwaitingCode(workspaceId: string): Promise<SenderRecord | null> {
  return findOne(
    workspaceId,
    "SELECT * FROM senders WHERE workspace_id = ? AND status = 'awaiting_verification'",
    [idToBytes(workspaceId)],
  );
}

async function findOne(
  workspaceId: string,
  sql: string,
  values: (string | Buffer)[],
): Promise<SenderRecord | null> {
  const [record] = await withCountries(workspaceId, await execute(sql, values));
  return record ?? null;
}

/** Newest first, of this status where one is given. */
export async function listSenders(
  workspaceId: string,
  page: Page,
  status?: SenderStatus,
): Promise<SenderRecord[]> {
  const index = status === undefined ? 'senders_listed' : 'senders_by_status';
  const builder = listedNewest(workspaceId, { table: 'senders', index }, page);
  return withCountries(workspaceId, await run(status === undefined ? builder : builder.where({ status })));
}

/** The senders that are held until this profile is verified. */
export async function listSendersAwaitingProfile(
  workspaceId: string,
  profileId: string,
): Promise<SenderRecord[]> {
  const rows = await query(
    `SELECT * FROM senders WHERE business_profile_id = ? AND workspace_id = ?
       AND status = 'awaiting_business_verification'`,
    [idToBytes(profileId), idToBytes(workspaceId)],
  );
  return withCountries(workspaceId, rows);
}

async function withCountries(workspaceId: string, rows: Row[]): Promise<SenderRecord[]> {
  if (rows.length === 0) return [];
  const countries = await query(
    'SELECT * FROM sender_countries WHERE sender_id IN (?) AND workspace_id = ? ORDER BY sender_id, country',
    [rows.map(({ id }) => id), idToBytes(workspaceId)],
  );
  const bySender = Map.groupBy(countries, (row) => row.sender_id.toString('hex'));
  return rows.map((row) => ({
    ...toRecord(row),
    countries: (bySender.get(row.id.toString('hex')) ?? []).map(toCountry),
  }));
}

export async function findSenderCount(workspaceId: string): Promise<number> {
  const [row] = await execute('SELECT COUNT(*) AS count FROM senders WHERE workspace_id = ?', [
    idToBytes(workspaceId),
  ]);
  return Number(row!.count);
}

export async function deleteSender(workspaceId: string, id: string): Promise<void> {
  await execute(`DELETE c FROM sender_countries c ${byId} WHERE c.sender_id = ? AND c.workspace_id = ?`, [
    idToBytes(id),
    idToBytes(workspaceId),
  ]);
  await execute('DELETE FROM senders WHERE id = ? AND workspace_id = ?', [
    idToBytes(id),
    idToBytes(workspaceId),
  ]);
}

/** Keeps what was rejected of a name whose sender goes. */
export async function insertSenderRejections(
  workspaceId: string,
  nameKey: string,
  countries: CountryRecord[],
): Promise<void> {
  if (countries.length === 0) return;
  await query('INSERT IGNORE INTO sender_rejections (workspace_id, name_key, country, reason) VALUES ?', [
    countries.map(({ country, reason }) => [idToBytes(workspaceId), Buffer.from(nameKey), country, reason]),
  ]);
}

/** The rejections of senders of this name that are gone. */
export async function listSenderRejections(workspaceId: string, nameKey: string): Promise<CountryRecord[]> {
  const rows = await execute('SELECT * FROM sender_rejections WHERE workspace_id = ? AND name_key = ?', [
    idToBytes(workspaceId),
    Buffer.from(nameKey),
  ]);
  return rows.map(({ country, reason }) => ({ country, status: 'rejected', reason }));
}

export async function deleteSenderRejection(
  workspaceId: string,
  nameKey: string,
  country: string,
): Promise<void> {
  await execute('DELETE FROM sender_rejections WHERE workspace_id = ? AND name_key = ? AND country = ?', [
    idToBytes(workspaceId),
    Buffer.from(nameKey),
    country,
  ]);
}

function toCountry(row: Row): CountryRecord {
  return { country: row.country, status: row.status, reason: row.reason };
}

function toRecord(row: Row): Omit<SenderRecord, 'countries'> {
  return {
    id: idFromBytes('sender', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    kind: row.kind,
    name: row.name?.toString() ?? null,
    nameKey: row.name_key?.toString() ?? null,
    virtualNumber: row.virtual_number?.toString() ?? null,
    status: row.status,
    isDefault: row.is_default === 1,
    sampleContent: row.sample_content,
    businessProfileId: row.business_profile_id && idFromBytes('profile', row.business_profile_id),
    code:
      row.code_tag === null
        ? null
        : { tag: row.code_tag, expiresAt: row.code_expires_at, tries: row.code_tries },
    createdAt: row.created_at,
  };
}
