import { expect, test } from 'vitest';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';

useDatabase();

async function balance(...args: string[]) {
  const { code, printed } = await admin('balance', ...args);
  return code === 0 ? printed : { code, printed };
}

test('the operator adds to a balance, sees it and its changes, and makes it unlimited again', async () => {
  const { workspaceId: id } = await workspace();
  expect(await balance('add', id, '12.5', '--note', 'Invoice 7')).toEqual({ id, balance: '12.5000' });
  expect(await balance('add', id, '--', '-2.5001')).toEqual({ id, balance: '9.9999' });
  expect(await balance('history', id)).toEqual([
    { at: expect.any(String), kind: 'credit', amount: '-2.5001', message: null, note: null },
    { at: expect.any(String), kind: 'credit', amount: '12.5000', message: null, note: 'Invoice 7' },
  ]);
  expect(await balance('set-unlimited', id)).toEqual({ id, balance: 'unlimited' });
  expect(await balance('show', id)).toEqual({ id, balance: 'unlimited' });
});

test('an amount that is none, and a workspace that is none, are refused', async () => {
  const { workspaceId: id } = await workspace();
  const refused = [
    [id, 'much'],
    [id, '0'],
    [id, '1.00001'],
    ['workspace_01h455vb4pex5vsknk084sn02q', '1'],
  ] as const;
  const answers = await Promise.all(refused.map(([given, amount]) => balance('add', given, amount)));
  expect(answers).toEqual(refused.map(() => ({ code: 1, printed: expect.any(String) })));
  expect(await balance('show', id)).toEqual({ id, balance: 'unlimited' });
});
