import { beforeAll, expect, test } from 'vitest';
import { findWorkspace } from '../../shared/db/workspaces.ts';
import { useDatabase } from '../support/database.ts';
import { workspace } from '../support/factory.ts';
import { startProcess } from '../support/processes.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

async function setWorkspace(...args: string[]) {
  const { exited, output } = startProcess(
    'scripts/setup/admin.ts',
    ['--json', 'workspace', 'set', own.workspaceId, ...args],
    { LOG_LEVEL: 'silent' },
  );
  const { code } = await exited;
  return code === 0 ? { code, printed: JSON.parse(output()) } : { code, printed: output().trim() };
}

test('the operator sets sending limits and takes them back one by one; what is left out stays', async () => {
  const set = await setWorkspace('--emails-per-minute', '60', '--emails-per-day', '10000');
  expect(set.printed).toMatchObject({ emailsPerMinute: 60, emailsPerHour: null, emailsPerDay: 10_000 });
  expect(await setWorkspace('--emails-per-minute', 'none', '--sending', 'off')).toMatchObject({ code: 0 });
  expect(await findWorkspace(own.workspaceId)).toMatchObject({
    emailsPerMinute: null,
    emailsPerHour: null,
    emailsPerDay: 10_000,
    sendingBlocked: true,
  });
});

test('a limit is a whole number from 1', async () => {
  for (const limit of ['0', '1.5']) {
    const { code, printed } = await setWorkspace(`--emails-per-hour=${limit}`);
    expect([limit, code]).toEqual([limit, 1]);
    expect(printed).toContain('It is a number from 1, or none.');
  }
});
