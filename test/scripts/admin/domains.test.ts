import { beforeAll, expect, test } from 'vitest';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';
import { startZone } from '../../support/time/zone.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  await startZone();
  own = await workspace();
});

const domain = (...args: string[]) => admin('domain', ...args);

test('the operator adds a domain that they vouch for, sees how domains stand, and removes one', async () => {
  const added = await domain('add', own.workspaceId, 'Bücher.example');
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
    domain('add', own.workspaceId, 'bücher.example'),
    domain('add', own.workspaceId, 'localhost'),
    domain('list', own.workspaceId),
    domain('verify', own.workspaceId, id),
  ]);
  expect(again).toEqual({ code: 1, printed: expect.stringContaining('already') });
  expect(wrong).toEqual({ code: 1, printed: expect.stringContaining('name must be a domain name') });
  expect(listed.printed.map(({ name, status }: any) => [name, status])).toEqual([
    ['xn--bcher-kva.example', 'verified'],
    [own.domain, 'verified'],
  ]);
  expect(looked.printed).toMatchObject({ status: 'verified', dkim: expect.stringMatching(/^missing/) });

  expect(await domain('verify', own.workspaceId, id, '--vouch')).toMatchObject({
    code: 0,
    printed: { id, status: 'verified' },
  });
  expect(await domain('delete', own.workspaceId, id)).toEqual({ code: 0, printed: { deleted: id } });
  const gone = await Promise.all([
    domain('delete', own.workspaceId, id),
    domain('verify', own.workspaceId, id),
  ]);
  expect(gone.map(({ code }) => code)).toEqual([1, 1]);
});
