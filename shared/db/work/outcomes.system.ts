import { batcher } from '../../common/batcher.ts';
import { idToBytes } from '../../formats/ids.ts';
import {
  byId,
  type Changed,
  hex,
  literal,
  outsideTransaction,
  query,
  type RowValue,
  transaction,
  valueByRow,
} from '../client.ts';
import { type Batches, findOwned, usual } from './claim.system.ts';
import type { Lease, WorkTable } from './table.system.ts';

/** `unless`: the column stays as it is where the outcome leaves that other column null. */
type Column = { unless?: string };
type Value = string | number | null;
type RowOutcome<Columns> = { lease: Lease; values: Record<keyof Columns, Value> };

/**
 * Makes the function that writes what became of claimed rows and gives their leases back, all in one statement. Rows whose
 * lease was lost stay as they are; returns how many were written. `clears`: columns that are over with the claim.
 */
export function outcomeWriter<const Columns extends Record<string, Column>>(
  { name }: WorkTable,
  columns: Columns,
  clears: string[] = [],
): (outcomes: RowOutcome<Columns>[]) => Promise<number> {
  const fields = Object.entries<Column>(columns);
  const cleared = [...clears, 'lease_token'].map((column) => `r.${column} = NULL`);

  async function writeOnce(outcomes: Written[]): Promise<number> {
    const changes = fields.map(([column, { unless }]) => {
      const rows = outcomes.map(({ id, values }): RowValue => {
        const isKept = unless !== undefined && values[unless] === null;
        return [id, isKept ? `r.${column}` : literal(values[column]!)];
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
    for (const some of eachRowOnce(outcomes)) changed += await writeOnce(some);
    return changed;
  };
}

type Written = { id: string; token: string; values: Record<string, Value> };

/** In the order of their ids. A row whose old lease and new one end in the same moment is in two of the lists. */
function eachRowOnce(outcomes: { lease: Lease; values: Record<string, Value> }[]): Written[][] {
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

/** SQL: the row has one of these leases still; ids and tokens are SQL too. */
export function holdingLease(table: string, leases: readonly { id: string; token: string }[]): string {
  const pairs = leases.map(({ id, token }) => `(${id},${token})`);
  // The ids by themselves, as the index is of them alone.
  return `${table}.id IN (${leases.map(({ id }) => id).join(',')}) AND (${table}.id, ${table}.lease_token) IN (${pairs.join(',')})`;
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
