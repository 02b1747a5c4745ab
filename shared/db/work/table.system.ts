import type { Column } from '../client/columns.ts';
import { type Columns, snake, type Table } from '../client/table.ts';

/**
 * Descriptions of tables whose rows are due (shared/work/README.md). A description takes its columns from the map of the
 * table. Besides them, a `WorkTable` has status and lease_token, and a leased `DueTable` has lease_token.
 */

type Mapped<Fields extends Columns> = Pick<Table<Fields>, 'name' | 'fields'>;
type Field<Fields> = keyof Fields & string;
type ValueOf<One> = One extends Column<unknown, infer Value> ? Value : never;
/** The fields that have exactly these values. */
type FieldOf<Fields, Value> = {
  [One in Field<Fields>]: [ValueOf<Fields[One]>, Value] extends [Value, ValueOf<Fields[One]>] ? One : never;
}[Field<Fields>];

/** A column of ids, and how an id is stored there. */
type IdColumn = { name: string; toId: (bytes: Buffer) => string; toBytes: (id: string) => Buffer };

function idColumn<Fields extends Columns>({ fields }: Mapped<Fields>, field: Field<Fields>): IdColumn {
  const { read, write } = fields[field] as Column;
  return { name: snake(field), toId: read as IdColumn['toId'], toBytes: write as IdColumn['toBytes'] };
}

/** A table whose rows a worker claims until a time. */
export type ClaimedTable = {
  name: string;
  /** The column that names a row. */
  key: IdColumn;
  /** The column of the time. */
  due: string;
  /**
   * Whether the table has lease_token and claims. Without them a claim only moves the time, so two workers may write an
   * outcome: a second one must do no harm.
   */
  isLeased: boolean;
};

/** SQL on the owner `o`: whether a limit applies to its rows, and until when the limit holds them back. */
type OwnerLimit = { isSet: string; heldUntil: string };

/** The rows of a kind of work that is due. */
export type WorkTable<Lane extends string = string> = ClaimedTable & {
  /** The status of rows whose turn is still to come. */
  waiting: string;
  /** The owner of a row. Each owner has jobs for a limited number of its rows. */
  owner: IdColumn;
  /** The lanes with the most urgent first, and their column; null where all rows are of one lane. */
  lanes: { column: string | null; order: readonly Lane[] };
  /** The index of (status, lane, parked, owner, due_at). */
  index: string;
  /** SQL: whether the row has not been tried yet. `waitsSince`: SQL for the time from which such a row has waited. */
  isUntried: string;
  waitsSince: string;
  /** If true, an admission increases `claims`, so that rows that had to wait can be recognised. */
  countsAdmission: boolean;
  limit: OwnerLimit;
};

type WorkFields = Columns & Record<'id' | 'dueAt' | 'parked' | 'claims' | 'requestId', Column>;

/**
 * `untried`: the field that counts the tries of a row, and the times from which a row without a try may have waited.
 */
export function workTable<Fields extends WorkFields, Lane extends string = 'default'>(
  map: Mapped<Fields>,
  own: {
    waiting: string;
    owner: Field<Fields>;
    lanes?: { field: FieldOf<Fields, Lane>; order: readonly Lane[] };
    index: string;
    untried?: { tries: Field<Fields>; since: readonly Field<Fields>[] };
    countsAdmission?: boolean;
    limit?: OwnerLimit;
  },
): WorkTable<Lane> {
  const { lanes, untried } = own;
  return {
    countsAdmission: false,
    limit: { isSet: 'FALSE', heldUntil: 'NULL' },
    ...own,
    name: map.name,
    key: idColumn(map, 'id'),
    due: 'due_at',
    isLeased: true,
    owner: idColumn(map, own.owner),
    lanes: lanes
      ? { column: snake(lanes.field), order: lanes.order }
      : { column: null, order: ['default' as Lane] },
    isUntried: untried ? `${snake(untried.tries)} = 0` : 'FALSE',
    waitsSince: untried ? `COALESCE(${untried.since.map(snake).join(', ')})` : 'due_at',
  };
}

/** For emails, texts and batches of texts: they wait from their acceptance, or from the time that they are scheduled for. */
export const ofMessages = {
  waiting: 'queued',
  owner: 'workspaceId',
  untried: { tries: 'retries', since: ['scheduledAt', 'createdAt'] },
} as const;

/** For other rows of workspaces: they wait from their due_at. */
export const ofWorkspaces = { waiting: 'waiting', owner: 'workspaceId' } as const;

/** A worker's lease on a row. Only the holder of the newest token has the row. */
export type Lease = { id: string; token: Buffer };

/**
 * A table of a kind of work whose owners never have many rows, so that all due rows may have jobs. A row is done when
 * its time is null, or when the row is gone.
 */
export type DueTable = ClaimedTable & {
  hasRequest: boolean;
  /** Begins with the time. */
  index: string;
};

/** `key`: an index begins with it. A table whose map has `claims` is leased. */
export function dueTable<Fields extends Columns>(
  map: Mapped<Fields>,
  own: {
    key: Field<Fields>;
    due: FieldOf<Fields, Date | null>;
    index: string;
  },
): DueTable {
  return {
    name: map.name,
    key: idColumn(map, own.key),
    due: snake(own.due),
    isLeased: 'claims' in map.fields,
    hasRequest: 'requestId' in map.fields,
    index: own.index,
  };
}
