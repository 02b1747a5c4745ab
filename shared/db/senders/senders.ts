import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { SenderCountryStatus, SenderKind, SenderStatus } from '../../schemas/senders.ts';
import { binaryText, boolean, bytes, id, int, text, time } from '../client/columns.ts';
import { type Condition, listNewest, type Page } from '../client/listing.ts';
import { countRows, deleteRow, insertRow, updateRow } from '../client/rows.ts';
import { group, type RecordOf, type RowOf, table } from '../client/table.ts';
import { byId, changeRow, execute, query } from '../client.ts';

/** The senders of a workspace, with the countries that each is requested or approved for. */

const senders = table('senders', {
  id: id('sender'),
  workspaceId: id('workspace'),
  kind: text<SenderKind>(),
  /** Null: a virtual number that is not assigned. */
  name: binaryText().nullable(),
  /** The name without its case. */
  nameKey: binaryText().nullable(),
  /** E.164; null unless it is a virtual number that is assigned. */
  virtualNumber: binaryText().nullable(),
  status: text<SenderStatus>(),
  isDefault: boolean(),
  sampleContent: text().nullable(),
  businessProfileId: id('profile').nullable(),
  /** The record by which a mobile number is verified; the code itself is stored nowhere. */
  code: group({ tag: bytes(), expiresAt: time(), tries: int() }).nullable({ tries: 0 }),
  createdAt: time(),
});
const changing = senders.pick('name', 'nameKey', 'virtualNumber', 'status', 'isDefault', 'code');
const senderCountries = table('sender_countries', {
  senderId: id('sender'),
  workspaceId: id('workspace'),
  country: text(),
  status: text<SenderCountryStatus>(),
  reason: text().nullable(),
  requestedAt: time().nullable(),
});
const ofSender = senderCountries.pick('country', 'status', 'reason');
export type CodeRecord = NonNullable<SenderRecord['code']>;
export type CountryRecord = RecordOf<typeof ofSender>;
/** `countries`: by code. */
export type SenderRecord = RecordOf<typeof senders> & { countries: CountryRecord[] };

/** Throws the database's duplicate-key error where the name, or the virtual number, is there already. */
export async function insertSender(workspaceId: string, record: SenderRecord): Promise<void> {
  await insertRow(workspaceId, senders, record);
  await insertSenderCountries(workspaceId, record.id, record.countries, record.createdAt);
}

/** Everything that may change but its countries. Throws as `insertSender` does. */
export function updateSender(workspaceId: string, record: SenderRecord): Promise<void> {
  return updateRow(workspaceId, changing, record);
}

/** Uses one of the tries that the code allows; false where no try is left, or no code is valid now. */
export function updateSenderTries(workspaceId: string, id: string, at: Date, most: number): Promise<boolean> {
  return changeRow(
    `UPDATE senders ${byId} SET code_tries = code_tries + 1
     WHERE id = ? AND workspace_id = ? AND code_expires_at > ? AND code_tries < ?`,
    [idToBytes(id), idToBytes(workspaceId), at, most],
  );
}

export async function insertSenderCountries(
  workspaceId: string,
  id: string,
  countries: CountryRecord[],
  at: Date,
): Promise<void> {
  if (countries.length === 0) return;
  const rows = countries.map((one) => ({ ...one, senderId: id, workspaceId, requestedAt: at }));
  await query(`INSERT INTO ${senderCountries.into} VALUES ?`, [rows.map(senderCountries.toValues)]);
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
  return (await listInOne(workspaceId, 's.id = ?', [idToBytes(id)]))[0] ?? null;
}

/** Locks the sender: no other transaction changes it until this one ends. */
export async function findSenderForUpdate(workspaceId: string, id: string): Promise<SenderRecord | null> {
  return findOne(workspaceId, `SELECT * FROM senders ${byId} WHERE id = ? AND workspace_id = ? FOR UPDATE`, [
    idToBytes(id),
    idToBytes(workspaceId),
  ]);
}

export async function findSenderByKey(workspaceId: string, nameKey: string): Promise<SenderRecord | null> {
  return (await listSendersByKey(workspaceId, [nameKey]))[0] ?? null;
}

export async function listSendersByKey(workspaceId: string, nameKeys: string[]): Promise<SenderRecord[]> {
  if (nameKeys.length === 0) return [];
  return listInOne(workspaceId, 's.name_key IN (?)', [nameKeys.map((key) => Buffer.from(key))]);
}

/** Reads senders with their countries in one query, because every text asks for its sender. */
async function listInOne(
  workspaceId: string,
  where: string,
  values: readonly unknown[],
): Promise<SenderRecord[]> {
  const rows = await query<(RowOf<typeof senders> & ForCountry)[]>(
    `SELECT s.*, c.country AS for_country, c.status AS for_status, c.reason AS for_reason
     FROM senders s LEFT JOIN sender_countries c ON c.sender_id = s.id AND c.workspace_id = s.workspace_id
     WHERE s.workspace_id = ? AND ${where} ORDER BY s.id, c.country`,
    [idToBytes(workspaceId), ...values],
  );
  const bySender = Map.groupBy(rows, (row) => row.id.toString('hex'));
  return [...bySender.values()].map((some) => ({
    ...senders.toRecord(some[0]!),
    countries: some.flatMap(({ for_country: country, for_status: status, for_reason: reason }) =>
      country === null ? [] : [{ country, status: status!, reason }],
    ),
  }));
}

type ForCountry = {
  for_country: string | null;
  for_status: SenderCountryStatus | null;
  for_reason: string | null;
};

/** Returns the name keys of all senders of the workspace that have a name. */
export async function listSenderKeys(workspaceId: string): Promise<string[]> {
  const rows = await execute<{ name_key: Buffer }[]>(
    'SELECT name_key FROM senders FORCE INDEX (senders_name) WHERE workspace_id = ? AND name_key IS NOT NULL',
    [idToBytes(workspaceId)],
  );
  return rows.map((row) => row.name_key.toString());
}

export async function findDefaultSender(workspaceId: string): Promise<SenderRecord | null> {
  return (await listInOne(workspaceId, 's.is_default = 1', []))[0] ?? null;
}

export async function findOldestApprovedSender(workspaceId: string): Promise<SenderRecord | null> {
  return findOne(
    workspaceId,
    `SELECT * FROM senders FORCE INDEX (senders_by_status) WHERE workspace_id = ? AND status = 'approved'
     ORDER BY id LIMIT 1`,
    [idToBytes(workspaceId)],
  );
}

/** Returns the sender that waits for its code; a workspace has one at most. */
export async function findSenderAwaitingCode(workspaceId: string): Promise<SenderRecord | null> {
  return (await listInOne(workspaceId, "s.status = 'awaiting_verification'", []))[0] ?? null;
}

async function findOne(
  workspaceId: string,
  sql: string,
  values: (string | Buffer)[],
): Promise<SenderRecord | null> {
  const rows = await execute<RowOf<typeof senders>[]>(sql, values);
  const [record] = await withCountries(workspaceId, senders.toRecords(rows));
  return record ?? null;
}

/** Newest first, of this status where one is given. */
export async function listSenders(
  workspaceId: string,
  page: Page,
  status?: SenderStatus,
): Promise<SenderRecord[]> {
  const index = status === undefined ? 'senders_listed' : 'senders_by_status';
  const filters: Condition[] = [['status', status, index]];
  return withCountries(workspaceId, await listNewest(workspaceId, { table: senders, index, filters }, page));
}

/** The senders that are held until this profile is verified. */
export function listSendersAwaitingProfile(workspaceId: string, profileId: string): Promise<SenderRecord[]> {
  const where = "s.business_profile_id = ? AND s.status = 'awaiting_business_verification'";
  return listInOne(workspaceId, where, [idToBytes(profileId)]);
}

async function withCountries(
  workspaceId: string,
  records: RecordOf<typeof senders>[],
): Promise<SenderRecord[]> {
  if (records.length === 0) return [];
  const rows = await query<RowOf<typeof senderCountries>[]>(
    'SELECT * FROM sender_countries WHERE sender_id IN (?) AND workspace_id = ? ORDER BY sender_id, country',
    [records.map(({ id }) => idToBytes(id)), idToBytes(workspaceId)],
  );
  const bySender = Map.groupBy(rows, (row) => idFromBytes('sender', row.sender_id));
  return records.map((record) => ({
    ...record,
    countries: ofSender.toRecords(bySender.get(record.id) ?? []),
  }));
}

export function findSenderCount(workspaceId: string): Promise<number> {
  return countRows(workspaceId, senders);
}

export async function deleteSender(workspaceId: string, id: string): Promise<void> {
  await execute(`DELETE c FROM sender_countries c ${byId} WHERE c.sender_id = ? AND c.workspace_id = ?`, [
    idToBytes(id),
    idToBytes(workspaceId),
  ]);
  await deleteRow(workspaceId, senders, { id });
}

/** Stores the rejected countries of a name whose sender is being deleted. */
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
  const rows = await execute<Pick<RowOf<typeof senderCountries>, 'country' | 'reason'>[]>(
    'SELECT country, reason FROM sender_rejections WHERE workspace_id = ? AND name_key = ?',
    [idToBytes(workspaceId), Buffer.from(nameKey)],
  );
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
