import { firstUuidAt, idToBytes } from '../../formats/ids.ts';
import { type Param, query } from '../client.ts';
import type { Column } from './columns.ts';
import type { Columns, RecordOf, RowOf, Table } from './table.ts';

/** Reads pages of records, newest first, for the listings of a workspace. */

/** Where a page of a listing starts and ends; `before` is the id that the last page ended with. */
export type Page = { limit: number; before: string | null };

/**
 * The value that a column, or an expression of columns, must have; and the index of (workspace_id, column, id), or null
 * where there is none.
 */
export type Condition = [column: string, value: Param | undefined, index: string | null];
type GivenCondition = [column: string, value: Param, index: string | null];

/** The columns of a table whose rows are listed by their ids. */
type Listed = Columns & { id: Column<Buffer, string> };

export type Listing<Fields extends Columns> = {
  table: Table<Fields>;
  /** The index of (workspace_id, id). */
  index: string;
  /** A condition with the value undefined is left out. The first one that has a value must have an index. */
  filters?: Condition[];
  since?: Date | undefined;
  until?: Date | undefined;
};

/**
 * Lists records of a workspace, newest first. The index is forced: by itself the optimizer reads all rows newer than
 * the page where one workspace has most of the table, or reads rows of other workspaces.
 */
export async function listNewest<Fields extends Listed>(
  workspaceId: string,
  listing: Listing<Fields>,
  { limit, before }: Page,
): Promise<RecordOf<Table<Fields>>[]> {
  const range = { before: before === null ? null : idToBytes(before), downTo: null };
  const filters = givenOf(listing);
  return listing.table.toRecords(await list(workspaceId, listing, { filters, others: [], range, limit }));
}

export type Length = { id: string; length: number };

/** Lists the ids of a workspace's rows, newest first, each with the bytes that these columns have together. */
export async function listLengths<Fields extends Listed>(
  workspaceId: string,
  { name, fields }: Table<Fields>,
  columns: readonly string[],
  { limit, before }: Page,
): Promise<Length[]> {
  const rows = await query<{ id: Buffer; length: number }[]>(
    `SELECT id, ${columns.map((column) => `LENGTH(${column})`).join(' + ')} AS length
     FROM ${name} FORCE INDEX (${name}_listed)
     WHERE workspace_id = ? ${before === null ? '' : 'AND id < ?'} ORDER BY id DESC LIMIT ?`,
    [idToBytes(workspaceId), ...(before === null ? [] : [idToBytes(before)]), limit],
  );
  return rows.map(({ id, length }) => ({ id: idOf(fields, id), length }));
}

const idOf = ({ id }: Listed, bytes: Buffer) => (id.read as (bytes: Buffer) => string)(bytes);

/** `reached`: the id after which the search continues; null: nothing follows. */
export type ListedPage<Record> = { records: Record[]; reached: string | null };
type ListedRow<Fields extends Columns> = RowOf<Table<Fields>> & { id: Buffer; fits: number };

// Rows that must match several filters are searched in windows of an index. A page searches at most a few windows, so
// that every page costs about the same.
const windowSize = 1_000;
const windowsOfPage = 4;

/**
 * Lists records that match all filters, newest first. No index covers several filters, so the search follows the index
 * of the rarest filter. A page may be short where its windows have few matches, without being the last page.
 */
export async function listMatching<Fields extends Listed>(
  workspaceId: string,
  listing: Listing<Fields>,
  page: Page,
): Promise<ListedPage<RecordOf<Table<Fields>>>> {
  const { table } = listing;
  const { rows, reached } = await search(workspaceId, listing, page);
  return { records: table.toRecords(rows), reached: reached && idOf(table.fields, reached) };
}

type FoundRows<Fields extends Columns> = { rows: ListedRow<Fields>[]; reached: Buffer | null };

const givenOf = <Fields extends Columns>({ filters = [] }: Listing<Fields>) =>
  filters.filter((filter): filter is GivenCondition => filter[1] !== undefined);

async function search<Fields extends Listed>(
  workspaceId: string,
  listing: Listing<Fields>,
  { limit, before }: Page,
): Promise<FoundRows<Fields>> {
  const given = givenOf(listing);
  const range = { before: before === null ? null : idToBytes(before), downTo: null };
  // Usually the first `limit` rows of the first filter match the others too.
  const scanned = await list(workspaceId, listing, {
    filters: given.slice(0, 1),
    others: given,
    range,
    limit,
  });
  const rows = scanned.filter(({ fits }) => fits === 1);
  if (scanned.length < limit) return { rows, reached: null };
  let from: Buffer = scanned.at(-1)!.id;
  if (rows.length === limit) return { rows, reached: from };
  const rarest = await findRarest(workspaceId, listing, given, from);
  const filters = [rarest, ...given.filter((filter) => filter !== rarest)];
  for (let window = 0; window < windowsOfPage; window += 1) {
    const downTo = await findFurtherOn(workspaceId, listing, rarest, { before: from, downTo: null });
    const range = { before: from, downTo };
    const wanted = limit - rows.length;
    rows.push(...(await list(workspaceId, listing, { filters, others: [], range, limit: wanted })));
    if (rows.length === limit) return { rows, reached: rows.at(-1)!.id };
    if (downTo === null) return { rows, reached: null };
    from = downTo;
  }
  return { rows, reached: from };
}

type IdBounds = { before: Buffer | null; downTo: Buffer | null };

/**
 * Lists rows that match `filters`, along the index of the first one; `fits` says whether a row matches `others` as
 * well.
 */
function list<Fields extends Columns>(
  workspaceId: string,
  listing: Listing<Fields>,
  {
    filters,
    others,
    range,
    limit,
  }: { filters: GivenCondition[]; others: GivenCondition[]; range: IdBounds; limit: number },
): Promise<ListedRow<Fields>[]> {
  const fits = ['1', ...others.map(([column]) => `${column} = ?`)].join(' AND ');
  const { sql, values } = along(workspaceId, listing, filters, range);
  return query(
    `SELECT ${listing.table.columns}, COALESCE(${fits}, 0) AS fits ${sql} ORDER BY id DESC LIMIT ?`,
    [...others.map(([, value]) => value), ...values, limit],
  );
}

/** Returns the filter with an index that the fewest rows match; counts at most a window of rows for each. */
async function findRarest<Fields extends Columns>(
  workspaceId: string,
  listing: Listing<Fields>,
  given: GivenCondition[],
  before: Buffer,
): Promise<GivenCondition> {
  const filters = given.filter(([, , index]) => index !== null);
  const counts = await Promise.all(
    filters.map(async (filter) => {
      const { sql, values } = along(workspaceId, listing, [filter], { before, downTo: null });
      const [row] = await query<{ n: number }[]>(
        `SELECT COUNT(*) AS n FROM (SELECT id ${sql} LIMIT ?) AS some`,
        [...values, windowSize],
      );
      return row!.n;
    }),
  );
  return filters[counts.indexOf(Math.min(...counts))]!;
}

/** Returns the id of the last row of the next window; null where fewer rows than a window are left. */
async function findFurtherOn<Fields extends Columns>(
  workspaceId: string,
  listing: Listing<Fields>,
  filter: GivenCondition,
  range: IdBounds,
): Promise<Buffer | null> {
  const { sql, values } = along(workspaceId, listing, [filter], range);
  const [row] = await query<{ id: Buffer }[]>(`SELECT id ${sql} ORDER BY id DESC LIMIT 1 OFFSET ?`, [
    ...values,
    windowSize - 1,
  ]);
  return row?.id ?? null;
}

function along<Fields extends Columns>(
  workspaceId: string,
  { table, index, since, until }: Listing<Fields>,
  filters: GivenCondition[],
  { before, downTo }: IdBounds,
): { sql: string; values: unknown[] } {
  // Ids carry the time of creation, so a range of time is a range of the same index.
  const conditions: [sql: string, value: unknown][] = [
    ['workspace_id = ?', idToBytes(workspaceId)],
    ...filters.map(([column, value]): [string, unknown] => [`${column} = ?`, value]),
    ['id >= ?', since && firstUuidAt(since)],
    ['id < ?', until && firstUuidAt(until)],
    ['id < ?', before],
    ['id >= ?', downTo],
  ];
  const given = conditions.filter(([, value]) => value !== undefined && value !== null);
  return {
    sql: `FROM ${table.name} FORCE INDEX (${filters[0]?.[2] ?? index}) WHERE ${given.map(([sql]) => sql).join(' AND ')}`,
    values: given.map(([, value]) => value),
  };
}
