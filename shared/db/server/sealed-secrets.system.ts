import { idFromBytes } from '../../formats/ids.ts';
import { byId, changeRows, comparedKey, query } from '../client.ts';

/** A row of any of the tables, with the columns of its primary key. */
type OwnerRow = {
  [Key in 'id' | 'sms_id' | 'workspace_id' | 'lineage_id' | 'idempotency_key']: Buffer;
} & { place: number };
type SealedRow = OwnerRow & { sealed: Buffer | null };

/**
 * The columns that hold sealed values. The owner of a value is part of its seal, so each table says how the owner of a
 * row is named.
 */
const places = [
  {
    table: 'api_keys',
    key: ['id'],
    columns: ['signing_secret', 'previous_signing_secret'],
    ownerOf: (row: OwnerRow) => idFromBytes('key', row.id),
  },
  {
    table: 'webhooks',
    key: ['id'],
    columns: ['secret', 'previous_secret', 'legacy_secret'],
    ownerOf: (row: OwnerRow) => idFromBytes('webhook', row.id),
  },
  {
    table: 'email_domains',
    key: ['id'],
    columns: ['dkim_private_key'],
    ownerOf: (row: OwnerRow) => idFromBytes('domain', row.id),
  },
  {
    table: 'short_links',
    key: ['sms_id', 'place'],
    columns: ['token'],
    ownerOf: (row: OwnerRow) => `${idFromBytes('sms', row.sms_id)} ${row.place}`,
  },
  {
    table: 'idempotency_records',
    key: ['workspace_id', 'lineage_id', 'idempotency_key'],
    columns: ['answer'],
    ownerOf: (row: OwnerRow) =>
      `${idFromBytes('workspace', row.workspace_id)} ${idFromBytes('key', row.lineage_id)} ${String(row.idempotency_key)}`,
  },
] as const;

export type SealedPlace = { table: string; column: string };
export type SealedValue = SealedPlace & {
  owner: string;
  sealed: Buffer;
  /** The primary key of the row, and so its place in the order of the table. */
  key: (Buffer | number)[];
};

export const sealedPlaces: SealedPlace[] = places.flatMap(({ table, columns }) =>
  columns.map((column) => ({ table, column })),
);

/**
 * Reads the next rows of a table in the order of the primary key, after the row `after`. Returns the values of one column
 * that were not sealed with this key, and the last of these rows; null once there are no more. Each call reads so many
 * rows and no more: where few values are left, a search for the next one would read the whole table in one statement.
 */
export async function listSealedOtherwise(
  place: SealedPlace,
  keyId: string,
  after: SealedValue['key'] | null,
  rowsAtOnce: number,
): Promise<{ values: SealedValue[]; last: SealedValue['key'] | null }> {
  const { table, column } = place;
  const { key, ownerOf } = placeOf(place);
  const names = key.join(', ');
  const prefix = Buffer.from(`${keyId}:`);
  // The whole primary key: with a part of it, rows would be skipped, or come again.
  const isFurther = after ? comparedKey(key, '>', after) : { sql: 'TRUE', values: [] };
  const rows = await query<SealedRow[]>(
    `SELECT ${names}, IF(LEFT(${column}, ?) <> ?, ${column}, NULL) AS sealed FROM ${table} ${byId}
     WHERE ${isFurther.sql} ORDER BY ${names} LIMIT ?`,
    [prefix.length, prefix, ...isFurther.values, rowsAtOnce],
  );
  const keyOf = (row: SealedRow) => key.map((name) => row[name]);
  const values = rows.flatMap((row) =>
    row.sealed ? { ...place, owner: ownerOf(row), sealed: row.sealed, key: keyOf(row) } : [],
  );
  return { values, last: rows.length < rowsAtOnce ? null : keyOf(rows.at(-1)!) };
}

/** Replaces the value that was read; false where that value has changed or gone meanwhile. */
export async function updateSealed(value: SealedValue, sealed: Buffer): Promise<boolean> {
  const { table, column } = value;
  const isRow = placeOf(value)
    .key.map((name) => `${name} = ?`)
    .join(' AND ');
  const changed = await changeRows(
    `UPDATE ${table} ${byId} SET ${column} = ? WHERE ${isRow} AND ${column} = ?`,
    [sealed, ...value.key, value.sealed],
  );
  return changed === 1;
}

function placeOf({ table, column }: SealedPlace) {
  const place = places.find(
    (one) => one.table === table && (one.columns as readonly string[]).includes(column),
  );
  if (!place) throw new Error(`${table}.${column} holds nothing sealed`);
  return place;
}
