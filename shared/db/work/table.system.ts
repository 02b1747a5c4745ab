import { type IdPrefix, idFromBytes, idToBytes } from '../../formats/ids.ts';

/**
 * The rows of a kind of work that is due (shared/work/README.md). Besides the columns named here every such table has
 * status, due_at, parked, lease_token, claims and request_id.
 */
export type WorkTable<Lane extends string = string> = {
  name: string;
  /** Null: jobs name a row in hexadecimal. */
  prefix: IdPrefix | null;
  /** The status of rows whose turn is still to come. */
  waiting: string;
  /** The owner of a row. Each owner has jobs for a limited number of its rows. */
  owner: { column: 'workspace_id' | 'webhook_id'; prefix: IdPrefix };
  /** The column of the lane, and the lanes with the most urgent first; null where rows have none. */
  lanes: { column: 'kind' | 'lane'; order: readonly Lane[] } | null;
  /** The index of (status, lane, parked, owner, due_at). */
  index: string;
  /** SQL: whether the row has not been tried yet. `waitsSince`: SQL for the time from which such a row has waited. */
  isUntried: string;
  waitsSince: string;
  /** If true, an admission increases `claims`, so that rows that had to wait can be recognised. */
  countsAdmission?: boolean;
};

/**
 * Describes a table of rows of workspaces that wait from their due_at; their status is `waiting` until they are done.
 */
export function ownedTable(own: Pick<WorkTable<'default'>, 'name' | 'index'>): WorkTable<'default'> {
  return {
    ...own,
    prefix: null,
    waiting: 'waiting',
    owner: { column: 'workspace_id', prefix: 'workspace' },
    lanes: null,
    isUntried: 'FALSE',
    waitsSince: 'due_at',
  };
}

export const keyToBytes = (prefix: IdPrefix | null, id: string): Buffer =>
  prefix ? idToBytes(id) : Buffer.from(id, 'hex');

export const keyFromBytes = (prefix: IdPrefix | null, bytes: Buffer): string =>
  prefix ? idFromBytes(prefix, bytes) : bytes.toString('hex');

/** A worker's lease on a row. Only the holder of the newest token has the row. */
export type Lease = { id: string; token: Buffer };

/**
 * A table of a kind of work whose owners never have many rows, so that all due rows may have jobs. A row is done when
 * its time is null, or when the row is gone.
 */
export type DueTable = {
  name: string;
  /**
   * The column that names a row, with an index that begins with it; without a prefix, jobs name the row in hexadecimal.
   */
  key: { column: 'id' | 'workspace_id'; prefix: IdPrefix | null };
  /** The column of the time, which has an index. */
  due: 'due_at' | 'check_due_at';
  /**
   * Whether the table has lease_token and claims. Without them a claim only moves the time, so two workers may write an
   * outcome: a second one must do no harm.
   */
  isLeased: boolean;
  /** Whether the table has request_id. */
  hasRequest: boolean;
};
