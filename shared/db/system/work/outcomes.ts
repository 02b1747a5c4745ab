import { batcher } from '../../../batcher.ts';
import { idToBytes } from '../../../formats/ids.ts';
import { byId, type Changed, execute, outsideTransaction, transaction } from '../../client.ts';
import { type Batches, findOwned, usual } from './claim.ts';
import type { Lease, WorkTable } from './table.ts';

/** A column's type; `unless`: it stays as it is where the outcome leaves that other column null. */
type Column = string | { type: string; unless: string };
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
  const typeOf = (column: Column) => (typeof column === 'string' ? column : column.type);
  const fields = Object.entries<Column>(columns).map(
    ([column, declared]) => `${column} ${typeOf(declared)} PATH '$.${column}'`,
  );
  const changes = Object.entries<Column>(columns).map(([column, declared]) =>
    typeof declared === 'string'
      ? `r.${column} = outcome.${column}`
      : `r.${column} = IF(outcome.${declared.unless} IS NULL, r.${column}, outcome.${column})`,
  );
  const sql = `UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
      of_row CHAR(32) PATH '$.of_row', of_token CHAR(32) PATH '$.of_token', ${fields.join(', ')})) AS outcome
    STRAIGHT_JOIN ${name} r ${byId} ON r.id = UNHEX(outcome.of_row) AND r.lease_token = UNHEX(outcome.of_token)
    SET ${[...changes, ...[...clears, 'lease_token'].map((column) => `r.${column} = NULL`)].join(', ')}`;
  return async (outcomes) => {
    const changed = outcomes.map(({ lease, values }) => ({
      of_row: idToBytes(lease.id).toString('hex'),
      of_token: lease.token.toString('hex'),
      ...values,
    }));
    // Prepared, as nothing in the JSON is escaped then; in a text that takes longer than all the rest of it.
    const { affectedRows } = await execute<Changed>(sql, [JSON.stringify(changed)]);
    return affectedRows;
  };
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
