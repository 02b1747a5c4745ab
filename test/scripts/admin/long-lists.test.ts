import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { run } from '../../../scripts/setup/admin/admin.ts';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { messagesTo, newBatch } from '../../support/data/new-batch.ts';
import { textingWorkspace } from '../../support/data/new-sms.ts';
import { sampleContent } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

/** Runs a command with `--json`, and returns the number of its rows and its lines on stderr. */
async function list(...args: string[]): Promise<[number, string]> {
  const written = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') =>
    new Writable({
      decodeStrings: false,
      write(text, _, done) {
        written[name] += text;
        done();
      },
    });
  expect(await run(['--json', ...args], { stdout: into('stdout'), stderr: into('stderr') })).toBe(0);
  return [JSON.parse(written.stdout).length, written.stderr];
}

/** Copies a row this many times. The copies have ids that follow its own; `changes` are columns that differ. */
async function copy(
  table: string,
  id: string,
  count: number,
  changes: Record<string, string>,
): Promise<void> {
  const names = await query<{ name: string }[]>(
    `SELECT COLUMN_NAME AS name FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name = ? AND COALESCE(generation_expression, '') = ''
     ORDER BY ordinal_position`,
    [table],
  );
  const columns = names.map(({ name }) => name);
  const values = columns.map((name) => changes[name] ?? name);
  await query(
    `INSERT INTO ${table} (${columns.join(', ')})
     WITH RECURSIVE numbers AS (SELECT 1 AS number UNION ALL SELECT number + 1 FROM numbers WHERE number < ?)
     SELECT ${values.join(', ')} FROM ${table} JOIN numbers WHERE id = ?`,
    [count, idToBytes(id)],
  );
}

const more = 'The first 200; there are more\n';
const nextId = "UNHEX(CONCAT(LEFT(HEX(id), 26), LPAD(HEX(number), 6, '0')))";

test('a list of batches that has more than 200 says so', async () => {
  const [api, own] = [await startApi(), await textingWorkspace()];
  const { id } = await newBatch(api, own, { messages: messagesTo(1) });
  await copy('sms_batches', id, 199, { id: nextId });
  expect(await list('batch', 'list', own.workspaceId)).toEqual([200, '']);
  await newBatch(api, own, { messages: messagesTo(1) });
  expect(await list('batch', 'list', own.workspaceId)).toEqual([200, more]);
  expect(await list('batch', 'list')).toEqual([200, more]);
});

test('a list of senders to review that has more than 200 says so', async () => {
  const [api, own] = [await startApi(), await workspace()];
  const { body } = await api.request('POST', '/v2/senders', {
    key: own.key,
    body: { name: 'First', sampleContent, countries: ['GB'] },
  });
  const { id } = body;
  await copy('senders', id, 200, { id: nextId, name_key: "CONCAT('copy', number)", is_default: '0' });
  await query(
    `INSERT INTO sender_countries (sender_id, country, workspace_id, status)
     SELECT s.id, c.country, c.workspace_id, c.status
     FROM senders s JOIN sender_countries c ON c.sender_id = ? WHERE s.workspace_id = ? AND s.id <> c.sender_id`,
    [idToBytes(id), idToBytes(own.workspaceId)],
  );
  expect(await list('sender', 'list', '--pending')).toEqual([200, more]);
  expect(await list('sender', 'list', own.workspaceId, '--pending')).toEqual([200, more]);
  await query('DELETE FROM sender_countries WHERE sender_id = ?', [idToBytes(id)]);
  expect(await list('sender', 'list', own.workspaceId, '--pending')).toEqual([200, '']);
});
