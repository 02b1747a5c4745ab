import { expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { countAll } from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';

useDatabase();

test('the operator reads the reports of a workspace, and has them made anew from its messages', async () => {
  const own = await workspace();
  await acceptEmail(own, { clientTag: 'offer' });
  await acceptEmail(own);
  await countAll();
  const shown = async () =>
    (await admin('reports', 'show', own.workspaceId, 'client-tags')).printed as object[];
  const rows = [
    expect.objectContaining({ clientTag: null, channel: 'email', accepted: 1, 'cost.gbp': '0.0000' }),
    expect.objectContaining({ clientTag: 'offer', channel: 'email', accepted: 1 }),
  ];
  expect(await shown()).toEqual(rows);
  await query('DELETE FROM report_counts');
  expect(await shown()).toEqual([]);
  const { printed } = await admin('reports', 'rebuild', own.workspaceId);
  expect(printed).toMatchObject({ id: own.workspaceId, messages: 2, left: 0 });
  expect(await shown()).toEqual(rows);
});
