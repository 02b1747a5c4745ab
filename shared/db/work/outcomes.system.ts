import { batcherByLane } from '../../common/batcher.ts';
import { idToBytes } from '../../formats/ids.ts';
import type { ColumnName, Columns, RecordOf, Table } from '../client/table.ts';
import {
  byId,
  changeRows,
  hex,
  outsideTransaction,
  type Param,
  type RowValue,
  transaction,
  valueByRow,
  written,
} from '../client.ts';
import { type Batches, findOwned, holdingLease, usual } from './claim.system.ts';
import type { Lease, WorkTable } from './table.system.ts';

/** Makes the statements that write the outcomes of claimed rows, for each kind of work. */

type RowOutcome<Mapped> = { lease: Lease; record: Mapped };
type OutcomeOptions<Column extends string> = {
  /** Columns that become null when the claim ends. */
  clears?: Pick<Table<Columns>, 'names'>;
  /** Columns that keep their value where the outcome leaves the column `whereNull` null. */
  kept?: { columns: readonly Column[]; whereNull: Column };
};

/**
 * Makes the function that writes the outcomes of claimed rows and gives back their leases, all in one statement. Rows
 * whose lease was lost stay as they are; returns how many were written.
 */
export function outcomeWriter<Fields extends Columns>(
  { name }: WorkTable,
  map: Table<Fields>,
  { clears, kept }: OutcomeOptions<ColumnName<Table<Fields>>> = {},
): (outcomes: RowOutcome<RecordOf<Table<Fields>>>[]) => Promise<number> {
  const cleared = [...(clears?.names ?? []), 'lease_token'].map((column) => `r.${column} = NULL`);
  const keptColumns: readonly string[] = kept?.columns ?? [];
  const decides = kept ? map.names.indexOf(kept.whereNull) : -1;

  async function writeOnce(outcomes: Written[]): Promise<number> {
    const changes = map.names.map((column, place) => {
      const mayBeKept = keptColumns.includes(column);
      const rows = outcomes.map(({ id, values }): RowValue => {
        const isKept = mayBeKept && values[decides] === null;
        return [id, isKept ? `r.${column}` : written(values[place]!)];
      });
      return `r.${column} = ${valueByRow('r.id', rows)}`;
    });
    return changeRows(
      `UPDATE ${name} r ${byId} SET ${[...changes, ...cleared].join(', ')} WHERE ${holdingLease('r', outcomes)}`,
    );
  }

  return async (outcomes) => {
    let changed = 0;
    const all = outcomes.map(({ lease, record }) => ({ lease, values: map.toValues(record) }));
    for (const some of eachRowOnce(all)) changed += await writeOnce(some);
    return changed;
  };
}

type Written = { id: string; token: string; values: Param[] };

/**
 * Splits the outcomes into lists with each row at most once, in the order of the ids. A row whose old and new lease end
 * at the same moment is in two lists.
 */
function eachRowOnce(outcomes: { lease: Lease; values: Param[] }[]): Written[][] {
  const lists: Map<string, Written>[] = [];
  for (const { lease, values } of outcomes) {
    const id = hex(idToBytes(lease.id));
    let list = lists.find((one) => !one.has(id));
    if (!list) {
      list = new Map();
      lists.push(list);
    }
    list.set(id, { id, token: hex(lease.token), values });
  }
  return lists.map((list) => [...list.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1)));
}

/** Rolls back a batch of outcomes: another worker has claimed some of its rows since. */
class LeaseLost extends Error {}

/**
 * Makes the function that ends a claim: it writes the outcome and gives back the lease; where the lease was lost it
 * returns false and changes nothing. Outcomes of one moment and lane share a transaction, in which `also` writes what
 * belongs to them. `write` must return how many of the rows still had their lease, and change no other row.
 */
export function finisher<Item>(
  table: WorkTable,
  options: {
    leaseOf: (item: Item) => Lease;
    laneOf: (item: Item) => string;
    write: (items: Item[]) => Promise<number>;
    also: (items: Item[]) => Promise<void>;
    batches?: Batches;
  },
): (item: Item) => Promise<boolean> {
  const { leaseOf, laneOf, write, also, batches = usual } = options;

  async function writeAll(items: Item[]): Promise<void> {
    if ((await write(items)) < items.length) throw new LeaseLost();
    await also(items);
  }

  async function writeOwned(items: Item[]): Promise<boolean[]> {
    const isOwned = await findOwned(table, items.map(leaseOf));
    const owned = items.filter((item) => isOwned(leaseOf(item)));
    if (owned.length > 0) await writeAll(owned);
    return items.map((item) => isOwned(leaseOf(item)));
  }

  const finishes = batcherByLane<Item, boolean>({
    laneOf,
    ...batches,
    run: async (items) => {
      try {
        await transaction(() => writeAll(items));
        return items.map(() => true);
      } catch (error) {
        if (!(error instanceof LeaseLost)) throw error;
        // A lease is seldom lost, so this second transaction is rare, and the usual batch needs no statement to check
        // its leases.
        return transaction(() => writeOwned(items));
      }
    },
  });
  return (item) => outsideTransaction(() => finishes(item));
}
