import type { DueTable, WorkTable } from '../db/work/table.system.ts';

/** A kind of work, as the sweep and the metrics see it. The domain lists all kinds in `work/kinds.ts`. */
export type WorkKind = {
  name: string;
  /** The descriptions of its rows, where the engine works on them. */
  tables?: readonly (WorkTable | DueTable)[];
  /**
   * Adds the jobs that its rows should have in Redis and do not have. Returns how many rows it has looked at. `limit`:
   * the most rows, longest due first; the next runs reach the other rows.
   */
  sweep?: (overdueBefore: Date, limit: number) => Promise<number>;
  /** Returns since when its oldest rows have been due, each by a key of the metric; null where none is due. */
  oldestDue?: (at: Date) => Promise<(readonly [key: string, since: Date | null])[]>;
};
