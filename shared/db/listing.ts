import { firstUuidAt, idToBytes } from '../formats/ids.ts';
import { type Param, type Row, run, table } from './client.ts';

/** Where a page of a listing starts and ends; `before` is the id that the last page ended with. */
export type Page = { limit: number; before: string | null };

export type Listing = {
  table: string;
  /** The index of (workspace_id, id). */
  index: string;
  /** An index of (workspace_id, column, id) for each column, and the value that it must have; undefined: any. */
  filters?: [column: string, value: Param | undefined, index: string][];
  since?: Date | undefined;
  until?: Date | undefined;
};

/**
 * Rows of a workspace, newest first. The indexes are named: by itself the optimizer goes through all that is newer than
 * the page where most of the table is one workspace's, or through other workspaces' rows.
 */
export function listNewest(
  workspaceId: string,
  { table: name, index, filters = [], since, until }: Listing,
  { limit, before }: Page,
): Promise<Row[]> {
  const given = filters.filter(([, value]) => value !== undefined);
  const builder = table(name, given.length === 0 ? [index] : given.map(([, , index]) => index));
  void builder.where('workspace_id', idToBytes(workspaceId));
  for (const [column, value] of given) void builder.where(column, value!);
  // Ids carry the time of creation, so a range of time is a range of the same index.
  if (since) void builder.where('id', '>=', firstUuidAt(since));
  if (until) void builder.where('id', '<', firstUuidAt(until));
  if (before) void builder.where('id', '<', idToBytes(before));
  return run<Row[]>(builder.orderBy('id', 'desc').limit(limit));
}
