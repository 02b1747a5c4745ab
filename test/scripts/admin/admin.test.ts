// @slow: it starts a process for each command of the operator.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { checkout } from '../../../scripts/setup/environment.ts';
import { findWorkspace } from '../../../shared/db/workspace/workspaces.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin, adminText } from '../../support/processes/admin.ts';
import { type Settings, startProcess } from '../../support/processes/processes.ts';

useDatabase();

async function command(args: string[], settings: Settings = {}) {
  const { exited, output } = startProcess('scripts/setup/admin/admin.ts', args, {
    LOG_LEVEL: 'silent',
    ...settings,
  });
  return { ...(await exited), printed: output() };
}

test('a command of the operator is a process that prints, ends by itself, and tells by its code how it went', async () => {
  const made = await command(['--json', 'workspace', 'create', 'Acme', '--country', 'FR']);
  expect(made).toEqual({ code: 0, signal: null, printed: expect.stringMatching(/^\{.*\}\n$/) });
  const { id } = JSON.parse(made.printed);
  expect(await findWorkspace(id)).toMatchObject({ name: 'Acme', country: 'FR' });
  const shown = await adminText('balance', 'show', id);
  expect(shown).toMatchObject({ code: 0, text: `id: ${id}\nbalance: unlimited\n` });
  expect(await adminText('workspace', 'list')).toMatchObject({
    code: 0,
    text: expect.stringMatching(/^id +name +createdAt\nworkspace_\w+  Acme  20\S+Z\n$/),
  });
  const unknown = await command(['balance', 'show', 'nobody']);
  expect(unknown).toEqual({ code: 1, signal: null, printed: 'There is no workspace nobody\n' });
});

test('the log of a command goes to stderr, so that programs can read what it prints', async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['scripts/setup/admin/admin.ts', '--json', 'workspace', 'list'],
    {
      cwd: checkout,
      env: { ...process.env, LOG_TO: 'stderr', LOG_LEVEL: 'info', REDIS_URL: 'redis://127.0.0.1:1' },
    },
  );
  expect(JSON.parse(stdout)).toEqual(expect.any(Array));
  expect(stderr).toContain('does not answer');
});

test('a workspace is not made with a name, a country or an address that nothing could use', async () => {
  expect(await admin('workspace', 'create', '😀'.repeat(201))).toEqual({
    code: 1,
    printed: 'name must be at most 200 characters',
  });
  expect(await admin('workspace', 'create', 'Acme', '--country', 'gb')).toEqual({
    code: 1,
    printed: 'country must be a country code of two capital letters, such as GB',
  });
  expect(await admin('workspace', 'create', 'Acme', '--alert-email', 'nonsense')).toEqual({
    code: 1,
    printed: expect.stringMatching(/^alertEmail /),
  });
});

test('help and mistakes in the arguments need no database', async () => {
  const away = { MYSQL_URL: 'mysql://root@127.0.0.1:1/away' };
  const [help, mistake] = await Promise.all([
    command(['balance', '--help'], away),
    command(['balance', 'add'], away),
  ]);
  expect(help).toMatchObject({ code: 0, printed: expect.stringContaining('history <workspaceId>') });
  expect(mistake).toMatchObject({
    code: 2,
    printed: expect.stringMatching(/missing required argument[^]*Usage: scripts\/admin balance add/),
  });
});

test('help and mistakes in the arguments need no platform either; what works on one says that there is none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'no-platform-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const here = async (program: string, ...args: string[]) => {
    const { exited, output } = startProcess(
      '--import',
      ['./scripts/setup/local-environment.ts', `scripts/setup/${program}`, ...args],
      { LOCAL_DIR: folder, MYSQL_URL: '' },
    );
    return { ...(await exited), printed: output() };
  };
  const [help, option, work, migration] = await Promise.all([
    here('admin/admin.ts', 'key', 'create', '--help'),
    here('admin/admin.ts', 'key', 'create', 'workspace_1', '--bogus'),
    here('admin/admin.ts', 'key', 'list', 'workspace_1'),
    here('migrate.ts', 'up'),
  ]);
  expect(help).toMatchObject({ code: 0, printed: expect.stringContaining('--expires-in-days') });
  expect(option).toMatchObject({ code: 2, printed: expect.stringContaining("unknown option '--bogus'") });
  expect(await adminText('key', 'bogus')).toMatchObject({
    code: 2,
    text: expect.stringContaining("unknown command 'bogus'"),
  });
  const none = `No platform is running with ${folder}. Run scripts/start first, or set MYSQL_URL.\n`;
  expect(work).toMatchObject({ code: 1, printed: none });
  expect(migration).toMatchObject({ code: 1, printed: none });
});
