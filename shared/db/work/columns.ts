import { binaryText, boolean, int, time } from '../client/columns.ts';

/** The columns of work that is due, for the maps of tables that need nothing else of them (shared/work/README.md). */
export const workColumns = {
  /** When the row is due; while a worker holds it, the end of the lease. Null: nothing is left to do. */
  dueAt: time().nullable(),
  /** Without a job in Redis. */
  parked: boolean(),
  claims: int(),
  requestId: binaryText().nullable(),
};
