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
  /** Whose rows they are: each owner has jobs for so many of them. */
  owner: { column: 'workspace_id' | 'webhook_id'; prefix: IdPrefix };
  /** The column of the lane, and the lanes with the most urgent first; null where rows have none. */
  lanes: { column: 'kind' | 'lane'; order: readonly Lane[] } | null;
  /** Of (status, lane, parked, owner, due_at). */
  index: string;
  /** SQL: the row has not been tried yet, and the time from which such a row has waited. */
  isUntried: string;
  waitsSince: string;
  /** An admission counts as a claim, so that what had to wait is told from what had not. */
  countsAdmission?: boolean;
};

/** Rows of workspaces that wait from their due_at; the status of those whose turn is still to come is `waiting`. */
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

/** A worker's hold on a row. The holder of a newer token has the row. */
export type Lease = { id: string; token: Buffer };

/**
 * The rows of a kind of work whose owners never have many, so that all that are due may have jobs. A row is done when
 * its time is null, or when it is gone.
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
   * Whether it has lease_token and claims. Where it has not, a claim moves the time only, so an outcome must stand a
   * second one.
   */
  isLeased: boolean;
  /** Whether it has request_id. */
  hasRequest: boolean;
};
