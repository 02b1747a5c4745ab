import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  binaryText,
  boolean,
  bytes,
  id,
  int,
  json,
  number,
  text,
  time,
} from '../../../shared/db/client/columns.ts';
import { group, mappedColumns, type RecordOf, table } from '../../../shared/db/client/table.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

/** The types that each kind of codec can read and write. */
const typesOf = {
  text: /^(var)?char|text$|^enum|^json$/,
  bytes: /binary|blob$/,
  whole: /^(tiny|small|medium)?int$/,
  decimal: /^(decimal|bigint|double|int)$/,
  time: /^datetime$/,
  day: /^date$/,
};

test('every column of a map is in its table, with a type that its codec reads, and null where the map says so', async () => {
  const root = new URL('../../../shared/db/', import.meta.url);
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' }))
    if (path.endsWith('.ts') && !path.startsWith('migrations/')) await import(new URL(path, root).href);
  const columns = await query<{ tableName: string; name: string; type: string; isNullable: string }[]>(
    `SELECT table_name AS tableName, column_name AS name, data_type AS type, is_nullable AS isNullable
     FROM information_schema.columns WHERE table_schema = DATABASE()`,
  );
  const known = new Map(columns.map((column) => [`${column.tableName}.${column.name}`, column]));
  const mapped = mappedColumns().filter(({ table }) => table !== parcels.name);
  expect(mapped.length).toBeGreaterThan(250);
  const wrong = mapped.flatMap(({ table, name, kind, isNullable }) => {
    const column = known.get(`${table}.${name}`);
    if (!column) return [`${table} has no column ${name}`];
    const faults = [];
    if (!typesOf[kind].test(column.type)) faults.push(`${table}.${name} is ${column.type}, not ${kind}`);
    if (isNullable !== (column.isNullable === 'YES'))
      faults.push(`${table}.${name} ${isNullable ? 'is never' : 'may be'} null`);
    return faults;
  });
  expect([...new Set(wrong)]).toEqual([]);
});

const parcels = table('parcels', {
  id: id('sms'),
  ownerId: id('workspace').nullable(),
  name: binaryText(),
  note: text().nullable(),
  isOpen: boolean(),
  labels: json<string[]>().nullableAs(() => []),
  price: group({ gbp: number().nullable(), eur: number().nullable() }),
  fault: group({ code: text(), tries: int() }).nullable({ tries: 0 }),
  seal: bytes(),
  sentAt: time().nullable(),
});

const parcel: RecordOf<typeof parcels> = {
  id: newId('sms', new Date()),
  ownerId: newId('workspace', new Date()),
  name: 'Ä name',
  note: "it's",
  isOpen: true,
  labels: ['a', 'b'],
  price: { gbp: 12_345, eur: null },
  fault: { code: 'lost', tries: 2 },
  seal: Buffer.from([0, 255]),
  sentAt: new Date('2026-01-02T03:04:05.678Z'),
};
const empty = { ...parcel, ownerId: null, note: null, isOpen: false, labels: [], fault: null, sentAt: null };

const create = `CREATE TEMPORARY TABLE parcels (id BINARY(16) PRIMARY KEY, owner_id BINARY(16), name VARBINARY(20) NOT NULL,
  note VARCHAR(20), is_open TINYINT(1) NOT NULL, labels TEXT, price_gbp BIGINT, price_eur DECIMAL(20,0), fault_code VARCHAR(9),
  fault_tries INT NOT NULL, seal VARBINARY(9) NOT NULL, sent_at DATETIME(3))`;

test.each([
  ['all of it', parcel],
  ['null where it may be', empty],
])('a record is stored and read as it is: %s', async (_, record) => {
  await transaction(async () => {
    await query(create);
    await query('INSERT INTO parcels SET ?', [parcels.toRow(record)]);
    const other = { ...record, id: newId('sms', new Date()) };
    await query(`INSERT INTO parcels (${parcels.columns}) VALUES (?)`, [parcels.toValues(other)]);
    expect(parcels.toRecords(await query('SELECT * FROM parcels ORDER BY id'))).toEqual([record, other]);
    expect(parcels.toFirst(await query(`SELECT ${parcels.columnsOf('p')} FROM parcels p LIMIT 1`))).toEqual(
      record,
    );
    expect(parcels.toFirst(await query('SELECT * FROM parcels WHERE FALSE'))).toBeNull();
    await query('DROP TEMPORARY TABLE parcels');
  });
});

test('a group that is null leaves what its columns must hold', () => {
  expect(parcels.toRow(empty)).toMatchObject({ fault_code: null, fault_tries: 0 });
});

test('what is null of a nullable column with a value of its own is read as that', () => {
  const row = { ...parcels.toRow(parcel), labels: null } as Parameters<typeof parcels.toRecord>[0];
  expect(parcels.toRecord(row).labels).toEqual([]);
});

test('a map of some columns reads and writes these alone', () => {
  const some = parcels.pick('note', 'fault');
  expect(some.columns).toBe('note, fault_code, fault_tries');
  expect(some.toRow(parcel)).toEqual({ note: "it's", fault_code: 'lost', fault_tries: 2 });
  expect(some.toValues(parcel)).toEqual(["it's", 'lost', 2]);
  expect(parcels.omit('note', 'fault').names).toEqual(
    parcels.names.filter((name) => name !== 'note' && !name.startsWith('fault_')),
  );
});

test('a wrong column or type does not compile', () => {
  // @ts-expect-error A name that is no text.
  expect(() => parcels.toRow({ ...parcel, name: null })).toThrow(TypeError);
  // @ts-expect-error A field that the table has not.
  expect(() => parcels.pick('colour').toRow(parcel)).not.toThrow();
  // @ts-expect-error A row without one of its columns.
  expect(() => parcels.toRecord({ id: Buffer.alloc(16) })).toThrow(TypeError);
  // @ts-expect-error A record without one of its fields.
  expect(() => parcels.toRow({ id: parcel.id })).toThrow(TypeError);
});
