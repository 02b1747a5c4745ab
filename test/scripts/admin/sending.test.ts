import { beforeAll, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { takeLease } from '../../../shared/coordination/leases.ts';
import { query } from '../../../shared/db/client.ts';
import { findWorkspace } from '../../../shared/db/workspace/workspaces.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin, adminText } from '../../support/processes/admin.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

const setWorkspace = (...args: string[]) => admin('workspace', 'set', own.workspaceId, ...args);

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
    expect([limit, code]).toEqual([limit, 2]);
    expect(printed).toContain('It must be a whole number from 1, or none.');
  }
});

test('a single record is printed without the control characters of a text in it', async () => {
  await query('UPDATE workspaces SET stop_reply = ? WHERE id = ?', [
    'Bye\nsending: perhaps\u001b[2J',
    idToBytes(own.workspaceId),
  ]);
  const { code, text } = await adminText('workspace', 'show', own.workspaceId);
  expect(code).toBe(0);
  expect(text.split('\n')).toContain('stopReply: Bye sending: perhaps [2J');
  expect(text.split('\n')).not.toContain('sending: perhaps');
});

test('the operator sees a customer that has as many reports in progress as it may', async () => {
  const busy = await workspace();
  const ends = await Promise.all(
    Array.from({ length: config.REPORTS_AT_ONCE }, (_, place) =>
      takeLease(`report:${busy.workspaceId}:${place}`, 60),
    ),
  );
  for (const end of ends) expect(end).not.toBeNull();
  const { code, printed } = await admin('workspace', 'show', busy.workspaceId);
  expect([code, printed]).toEqual([
    0,
    expect.objectContaining({ waitingMessages: 0, partsThisMonth: 0, spentGbpThisMonth: '0.0000' }),
  ]);
});
