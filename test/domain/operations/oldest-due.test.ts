import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { oldestDueSeconds } from '../../../shared/domain/operations/oldest-due.ts';
import { kinds } from '../../../shared/domain/work/kinds.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';

useDatabase();

let workspaceId: Buffer;
beforeEach(async () => {
  workspaceId = idToBytes((await workspace()).workspaceId);
});

const documented = readFileSync('shared/work/README.md', 'utf8')
  .split('## Which kinds are described here')[1]!
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Kind |'))
  .map((line) => line.slice(1, -1).split('|'));
const codeIn = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, code]) => code!);
const keysIn = (cells: string[]) => (cells.at(-1)!.startsWith(' none') ? [] : codeIn(cells.at(-1)!));
const ages = () => oldestDueSeconds(now());

test('every kind of due work says how long its oldest row has been due, under the key of the table of kinds', async () => {
  expect(documented.length).toBeGreaterThanOrEqual(14);
  expect(documented.flatMap(keysIn).toSorted()).toEqual(Object.keys(await ages()).toSorted());
});

const tables = kinds.flatMap((kind) => kind.tables ?? []);

test('every table whose rows have a due time is described in the list of kinds, and named in the table of kinds', async () => {
  const rows = await query<{ name: string }[]>(
    `SELECT DISTINCT table_name AS name FROM information_schema.columns
     WHERE table_schema = DATABASE() AND column_name IN ('due_at', 'check_due_at')`,
  );
  expect(rows.length).toBeGreaterThanOrEqual(8);
  expect(rows.map(({ name }) => name).toSorted()).toEqual(
    [...new Set(tables.map(({ name }) => name))].toSorted(),
  );
  const named = documented
    .filter((cells) => keysIn(cells).length > 0)
    .flatMap((cells) => codeIn(cells.join('|')));
  for (const { name } of rows) expect(named).toContain(name);
});

/** The columns of the index that the engine names for a table, as its description says that they are. */
const indexOf = (table: (typeof tables)[number]) => {
  if ('owner' in table)
    return [
      'status',
      ...(table.lanes.column ? [table.lanes.column] : []),
      'parked',
      table.owner.name,
      'due_at',
    ];
  return [table.due];
};

test('every table of due work has the index and the lease that its description says', async () => {
  expect(tables.length).toBeGreaterThanOrEqual(9);
  for (const table of tables) {
    const columns = await query<{ name: string }[]>(
      `SELECT column_name AS name FROM information_schema.statistics
       WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ? ORDER BY seq_in_index`,
      [table.name, table.index],
    );
    expect([table.name, ...columns.map(({ name }) => name)]).toEqual([table.name, ...indexOf(table)]);
    const [row] = await query(`SHOW COLUMNS FROM ${table.name} LIKE 'lease_token'`);
    expect([table.name, row !== undefined]).toEqual([table.name, table.isLeased]);
  }
});

test('every kind of due work has one line in the guide about alarms', async () => {
  const guide = readFileSync('api/public/guides/alarms.md', 'utf8');
  const watched = guide.split('\n').filter((line) => line.startsWith('| '));
  const linesOf = (key: string) => watched.filter((line) => new RegExp(`["\`]${key}["\`]`).test(line));
  for (const key of Object.keys(await ages()))
    expect(linesOf(key), key).toHaveLength(key.endsWith('_backlog') ? 0 : 1);
});

const someAgo = (seconds: number) => new Date(now().getTime() - seconds * 1000);
const rowsOf: Record<string, { table: string; row: (at: Date) => Record<string, unknown> }> = {
  contact_list_copy: {
    table: 'contact_list_copies',
    row: (at) => ({ ...copy(at), parked: 0 }),
  },
  contact_list_copy_backlog: {
    table: 'contact_list_copies',
    row: (at) => ({ ...copy(at), parked: 1 }),
  },
  contact_list_count: {
    table: 'contact_list_counts',
    row: (at) => ({ workspace_id: randomBytes(16), due_at: at }),
  },
  webhook_settlement: {
    table: 'webhook_settlements',
    row: (at) => ({
      webhook_id: randomBytes(16),
      kind: 'recover',
      workspace_id: workspaceId,
      since: at,
      created_at: at,
    }),
  },
  contact_erasure: {
    table: 'contact_erasures',
    row: (at) => ({
      contact_id: randomBytes(16),
      workspace_id: workspaceId,
      number: '+447700900123',
      created_at: at,
    }),
  },
  email_domain_check: { table: 'email_domains', row: (at) => domain(at) },
  sms_held: { table: 'sms_messages', row: (at) => heldText(at) },
  simulator_answer: {
    table: 'simulator_answers',
    row: (at) => ({ ...simulated(at), parked: 0 }),
  },
  simulator_answer_backlog: {
    table: 'simulator_answers',
    row: (at) => ({ ...simulated(at), parked: 1 }),
  },
};
const domain = (at: Date) => ({
  id: randomBytes(16),
  workspace_id: workspaceId,
  name: `${randomBytes(8).toString('hex')}.example`,
  status: 'pending',
  dkim_selector: 'k1',
  dkim_private_key: randomBytes(16),
  dkim_public_key: 'p',
  created_at: at,
  check_due_at: at,
});
const heldText = (at: Date) => ({
  id: randomBytes(16),
  workspace_id: workspaceId,
  direction: 'outbound',
  status: 'held',
  sender: 'Acme',
  recipient: '+447700900123',
  content: '',
  parts: 1,
  encoding: 'gsm7',
  event_seq: 1,
  created_at: at,
  updated_at: at,
  due_at: at,
});
const copy = (at: Date) => ({
  id: randomBytes(16),
  workspace_id: workspaceId,
  list_id: randomBytes(16),
  request: '{}',
  created_at: at,
  due_at: at,
});
const simulated = (at: Date) => ({
  id: randomBytes(16),
  workspace_id: workspaceId,
  number: '+447700900123',
  sender: 'Acme',
  due_at: at,
});

const insert = async (kind: string, count: number, at: Date) => {
  const { table, row } = rowsOf[kind]!;
  const rows = Array.from({ length: count }, () => row(at));
  await query(`INSERT INTO ${table} (${Object.keys(rows[0]!).join(', ')}) VALUES ?`, [
    rows.map(Object.values),
  ]);
};

beforeEach(async () => {
  for (const { table } of Object.values(rowsOf)) await query(`DELETE FROM ${table}`);
});

test('work that nobody does gets older, of each kind for itself', async () => {
  for (const [index, kind] of Object.keys(rowsOf).entries()) {
    await insert(kind, 1, someAgo(1_000 * (index + 1)));
    await insert(kind, 1, someAgo(10));
    await insert(kind, 1, someAgo(-500));
  }
  const seen = await ages();
  for (const [index, kind] of Object.keys(rowsOf).entries()) {
    expect(seen[kind], kind).toBeGreaterThanOrEqual(1_000 * (index + 1));
    expect(seen[kind], kind).toBeLessThan(1_000 * (index + 1) + 900);
  }
});

test('the oldest of many rows costs no more than that of a few', async () => {
  for (const kind of Object.keys(rowsOf)) await insert(kind, 2, someAgo(10));
  const few = await rowsRead(ages);
  for (const kind of Object.keys(rowsOf)) await insert(kind, 500, someAgo(20));
  // The statistics of a table that has just been filled are those of an empty one.
  for (const { table } of Object.values(rowsOf)) await query(`ANALYZE TABLE ${table}`);
  expect(await rowsRead(ages)).toBeLessThan(few + 50);
});
