import { batcher } from '../../common/batcher.ts';
import { idToBytes } from '../../formats/ids.ts';
import type { ColumnMap, ColumnName, Columns, RecordOf } from '../client/table.ts';
import {
  byId,
  type Changed,
  hex,
  outsideTransaction,
  type Param,
  query,
  type RowValue,
  transaction,
  valueByRow,
  written,
} from '../client.ts';
import { type Batches, findOwned, holdingLease, usual } from './claim.system.ts';
import type { Lease, WorkTable } from './table.system.ts';

type RowOutcome<Mapped> = { lease: Lease; record: Mapped };
type OutcomeOptions<Column extends string> = {
  /** Columns that are over with the claim. */
  clears?: Pick<ColumnMap<Columns>, 'names'>;
  /** Columns that stay as they are where the outcome leaves another one null. */
  kept?: { columns: readonly Column[]; whereNull: Column };
};

/**
 * Makes the function that writes what became of claimed rows and gives their leases back, all in one statement. Rows whose
 * lease was lost stay as they are; returns how many were written.
 */
export function outcomeWriter<Fields extends Columns>(
  { name }: WorkTable,
  map: ColumnMap<Fields>,
  { clears, kept }: OutcomeOptions<ColumnName<ColumnMap<Fields>>> = {},
): (outcomes: RowOutcome<RecordOf<ColumnMap<Fields>>>[]) => Promise<number> {
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
    const { affectedRows } = await query<Changed>(
      `UPDATE ${name} r ${byId} SET ${[...changes, ...cleared].join(', ')} WHERE ${holdingLease('r', outcomes)}`,
    );
    return affectedRows;
  }

  return async (outcomes) => {
    let changed = 0;
    const all = outcomes.map(({ lease, record }) => ({ lease, values: map.toValues(record) }));
    for (const some of eachRowOnce(all)) changed += await writeOnce(some);
    return changed;
  };
}

type Written = { id: string; token: string; values: Param[] };

/** In the order of their ids. A row whose old lease and new one end in the same moment is in two of the lists. */
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

/** Undoes a batch of outcomes: some are of rows that another worker has claimed since. */
class LeaseLost extends Error {}

/**
 * Makes the function that ends a claim: it writes the outcome and gives the lease back; false, changing nothing, where the
 * lease was lost. Outcomes of one moment share a transaction, in which `also` writes what belongs to them. `write` returns
 * how many of the rows still had their lease, and changes no other row.
 */
export function finisher<Item>(
  table: WorkTable,
  options: {
    leaseOf: (item: Item) => Lease;
    write: (items: Item[]) => Promise<number>;
    also: (items: Item[]) => Promise<void>;
    batches?: Batches;
  },
): (item: Item) => Promise<boolean> {
  const { leaseOf, write, also, batches = usual } = options;

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

  const finishes = batcher<Item, boolean>({
    ...batches,
    run: async (items) => {
      try {
        await transaction(() => writeAll(items));
        return items.map(() => true);
      } catch (error) {
        if (!(error instanceof LeaseLost)) throw error;
        // A lease is seldom lost. So the second transaction is rare, and the usual batch saves a statement.
        return transaction(() => writeOwned(items));
      }
    },
  });
  return (item) => outsideTransaction(() => finishes(item));
}
