import { type IdPrefix, idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { Param } from './connection.ts';
import { fitting, type OutsideColumn } from './outside-text.ts';

/** The columns of a map (table.ts): each of these functions says how the values of one column are stored. */

/** The types of columns that a codec can read and write; a test compares them with the tables. */
export type ColumnKind = 'text' | 'bytes' | 'whole' | 'decimal' | 'time' | 'day';

/** `Stored` is the value as the driver gives it, `Value` the value in a record. */
export type Column<Stored = unknown, Value = unknown> = {
  kind: ColumnKind;
  isNullable: boolean;
  /** Null: the value is read or written unchanged. */
  read: ((stored: never) => unknown) | null;
  write: ((value: never) => Param) | null;
  /** Makes the value of the field where the column is null, if the field is not null too. */
  whenNull: (() => unknown) | null;
  /** Only for the type checker; never set. */
  types?: { stored: Stored; value: Value };
};

type NotNull<Stored, Value> = Column<Stored, Value> & {
  /** The column may be null, and so may the field. */
  nullable: () => Column<Stored | null, Value | null>;
  /** The column may be null, and the field then has the value that `whenNull` makes. */
  nullableAs: (whenNull: () => Value) => Column<Stored | null, Value>;
};

function column<Stored, Value>(
  kind: ColumnKind,
  read: ((stored: Stored) => Value) | null = null,
  write: ((value: Value) => Param) | null = null,
): NotNull<Stored, Value> {
  const own = { kind, isNullable: false, read, write, whenNull: null };
  return {
    ...own,
    nullable: () => ({ ...own, isNullable: true }),
    nullableAs: (whenNull) => ({ ...own, isNullable: true, whenNull }),
  };
}

/** An id with its prefix, stored as the bytes of its UUID. */
export const id = (prefix: IdPrefix) =>
  column<Buffer, string>('bytes', (bytes) => idFromBytes(prefix, bytes), idToBytes);

/** An id that rows written together have in common, such as a workspace id: converted to bytes once for all of them. */
export function sharedId(prefix: IdPrefix) {
  let last: { id: string; bytes: Buffer } | undefined;
  return column<Buffer, string>(
    'bytes',
    (bytes) => idFromBytes(prefix, bytes),
    (id) => {
      if (last?.id !== id) last = { id, bytes: idToBytes(id) };
      return last.bytes;
    },
  );
}

/** The id of a record of any kind. Its prefix is not stored, so it is read as `hexId` is. */
export const anyId = () => column<Buffer, string>('bytes', (bytes) => bytes.toString('hex'), idToBytes);

/** The id of a row that no caller sees: hexadecimal, without a prefix. */
export const hexId = () =>
  column<Buffer, string>(
    'bytes',
    (bytes) => bytes.toString('hex'),
    (hex) => Buffer.from(hex, 'hex'),
  );

export const text = <Text extends string = string>() => column<Text, Text>('text');

/** Text in a column of bytes, which compares as bytes do (architecture rule 8). */
export const binaryText = () => column<Buffer, string>('bytes', String, (value) => Buffer.from(value));

/** Words without spaces, in a column of bytes. */
export const words = () =>
  column<Buffer, string[]>(
    'bytes',
    (bytes) => (bytes.length > 0 ? bytes.toString().split(' ') : []),
    (value) => Buffer.from(value.join(' ')),
  );

/** Text from an outside server: cut to the length that the column has room for. */
export const outsideText = (name: OutsideColumn) =>
  column<string, string>('text', null, (value) => fitting(name, value));

/** Text from an outside server, cut to fit, in a column of bytes. */
export const outsideBinaryText = (name: OutsideColumn) =>
  column<Buffer, string>('bytes', String, (value) => Buffer.from(fitting(name, value)));

/** Bytes as they are, such as a hash or a sealed secret. */
export const bytes = () => column<Buffer, Buffer>('bytes');

export const int = () => column<number, number>('whole');

/** A decimal, or a whole number past 32 bits. The driver gives text for values that a number cannot hold exactly. */
export const number = () => column<number | string, number>('decimal', Number);

export const boolean = () => column<number, boolean>('whole', (stored) => stored === 1, Number);

export const time = () => column<Date, Date>('time');

/** A day as YYYY-MM-DD. */
export const day = () => column<Date, string>('day', (stored) => stored.toISOString().slice(0, 10), String);

/** A value as JSON text. */
export const json = <Value>() =>
  column<string, Value>('text', (stored): Value => JSON.parse(stored), JSON.stringify);
