import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { workspace } from '../support/factory.ts';
import { startProcess } from '../support/processes.ts';
import { startZone } from '../support/zone.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  await startZone();
  own = await workspace();
});

/** One command of the operator; what it printed is parsed where it succeeded. */
async function admin(...args: string[]) {
  const { exited, output } = startProcess('scripts/setup/admin.ts', ['--json', 'domain', ...args], {
    LOG_LEVEL: 'silent',
  });
  const { code } = await exited;
  return code === 0 ? { code, printed: JSON.parse(output()) } : { code, printed: output().trim() };
}

test('the operator adds a domain that they vouch for, sees how domains stand, and removes one', async () => {
  const added = await admin('add', own.workspaceId, 'Bücher.example');
  expect(added).toMatchObject({
    code: 0,
    printed: {
      id: expect.stringMatching(/^domain_/),
      name: 'xn--bcher-kva.example',
      status: 'verified',
      record: expect.stringMatching(/^m\w{12}\._domainkey\.xn--bcher-kva\.example TXT "v=DKIM1; k=rsa; p=/),
    },
  });
  const { id } = added.printed;
  const [again, wrong, listed, looked] = await Promise.all([
    admin('add', own.workspaceId, 'bücher.example'),
    admin('add', own.workspaceId, 'localhost'),
    admin('list', own.workspaceId),
    admin('verify', own.workspaceId, id),
  ]);
  expect(again).toEqual({ code: 1, printed: expect.stringContaining('already') });
  expect(wrong).toEqual({ code: 1, printed: expect.stringContaining('name must be a domain name') });
  expect(listed.printed.map(({ name, status }: any) => [name, status])).toEqual([
    ['xn--bcher-kva.example', 'verified'],
    [own.domain, 'verified'],
  ]);
  expect(looked.printed).toMatchObject({ status: 'verified', dkim: expect.stringMatching(/^missing/) });

  expect(await admin('verify', own.workspaceId, id, '--vouch')).toMatchObject({
    code: 0,
    printed: { id, status: 'verified' },
  });
  expect(await admin('delete', own.workspaceId, id)).toEqual({ code: 0, printed: { deleted: id } });
  const gone = await Promise.all([
    admin('delete', own.workspaceId, id),
    admin('verify', own.workspaceId, id),
  ]);
  expect(gone.map(({ code }) => code)).toEqual([1, 1]);
});
