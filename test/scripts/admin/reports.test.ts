import { expect, onTestFinished, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import {
  advanceEmail,
  advanceText,
  countAll,
  emailAt,
  textAt,
} from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin, adminText } from '../../support/processes/admin.ts';
import { changeSettings } from '../../support/processes/settings.ts';

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
  // The rebuild goes hour by hour through all that is kept.
  changeSettings({ EMAIL_RETENTION_DAYS: 3, SMS_RETENTION_DAYS: 3 });
  const { printed } = await admin('reports', 'rebuild', own.workspaceId);
  expect(printed).toMatchObject({ id: own.workspaceId, messages: 2, left: 0 });
  expect(await shown()).toEqual(rows);
  const other = await workspace();
  const hourAgo = new Date(now().getTime() - 3_600_000).toISOString();
  await query('DELETE FROM report_counts');
  const all = (await admin('reports', 'rebuild', '--from', hourAgo)).printed;
  for (const [id, messages] of [
    [own.workspaceId, 2],
    [other.workspaceId, 0],
  ])
    expect(all).toContainEqual(expect.objectContaining({ id, messages, left: 0 }));
  expect(await shown()).toEqual(rows);
});

test('a workspace whose reports cannot be made anew does not stop those of others, and the operator is told of each', async () => {
  const own = [await workspace(), await workspace(), await workspace()];
  for (const one of own) await acceptEmail(one);
  await query('DELETE FROM report_counts');
  const refused = own[1]!.workspaceId;
  await query(`CREATE TRIGGER refuse_counts BEFORE INSERT ON report_counts FOR EACH ROW
    IF NEW.workspace_id = X'${idToBytes(refused).toString('hex')}' THEN SIGNAL SQLSTATE '45000'; END IF`);
  onTestFinished(() => query('DROP TRIGGER refuse_counts').then(() => undefined));
  const hourAgo = new Date(now().getTime() - 3_600_000).toISOString();
  const { code, text, stdout } = await adminText('--json', 'reports', 'rebuild', '--from', hourAgo);
  expect(code).toBe(1);
  const rebuilt = JSON.parse(stdout) as { id: string; messages: number }[];
  const numberOf = (id: string) => rebuilt.find((one) => one.id === id)?.messages;
  expect(own.map(({ workspaceId }) => numberOf(workspaceId))).toEqual([1, undefined, 1]);
  const lines = text.trim().split('\n');
  expect(lines.at(-1)).toBe(`Not rebuilt: ${refused}`);
  for (const { workspaceId } of own) {
    const end = workspaceId === refused ? 'failed' : 'messages: 1';
    expect(lines.some((line) => line.endsWith(` of ${rebuilt.length + 1}: ${workspaceId}, ${end}`))).toBe(
      true,
    );
  }
});

test('the operator reads each report as the API has it, with a column for each member', async () => {
  const own = await workspace();
  const at = now();
  const reason = (code: string) =>
    ({ category: 'failed', code, description: null, retryable: false }) as const;
  for (const code of ['expired', 'expired', 'no such number']) {
    const sent = await advanceText(await textAt(own, at, {}), 'sent', { at, gateway: 'acme' });
    await advanceText(sent, 'failed', { at, reason: reason(code) });
  }
  await advanceEmail(await emailAt(own, at, { recipient: 'ada@one.example' }), 'sent', { at });
  await countAll();
  const rowsOf = async (...args: string[]) => {
    const { code, printed } = await admin('reports', 'show', own.workspaceId, ...args);
    expect([args, code]).toEqual([args, 0]);
    return printed as Record<string, unknown>[];
  };
  const day = at.toISOString().slice(0, 10);
  const to = new Date(Math.ceil((at.getTime() + 1) / 3_600_000) * 3_600_000).toISOString();
  const sends = await rowsOf('sends', '--from', day, '--to', to, '--channel', 'sms', '--interval', 'month');
  expect(sends).toMatchObject([{ channel: 'sms', accepted: 3, failed: 3, 'cost.gbp': '0.1200' }]);
  expect(await rowsOf('countries')).toEqual([
    expect.objectContaining({
      country: 'GB',
      gateway: 'acme',
      failed: 3,
      errors: 'expired=2; no such number=1',
    }),
  ]);
  expect(await rowsOf('latency')).toEqual([
    expect.objectContaining({ channel: 'email', 'sent.count': 1, 'delivered.count': 0 }),
    expect.objectContaining({ channel: 'sms', gateway: 'acme', 'sent.count': 3 }),
  ]);
  expect(await rowsOf('email-deliverability')).toEqual([
    expect.objectContaining({ by: 'recipientDomain', domain: 'one.example', accepted: 1 }),
    expect.objectContaining({ by: 'sendingDomain', accepted: 1 }),
  ]);
});

test.each([
  [['--from', 'yesterday'], /^from must be a date/],
  [['--from', '2026-07-02', '--to', '2026-07-01'], /^from must be before to$/],
  [
    ['--from', '2026-01-01', '--to', '2026-06-01', '--interval', 'hour'],
    /^interval can be hour only for at most/,
  ],
  [['--time-zone', 'Mars/Olympus'], /^timeZone must be a time zone/],
  [['--from', 'x', '--to', 'y'], /^from must be a date[^\n]*\nto must be a date/],
])('the options %j are refused by their names', async (options, message) => {
  const own = await workspace();
  const { code, printed } = await admin('reports', 'show', own.workspaceId, 'sends', ...options);
  expect([code, printed]).toEqual([1, expect.stringMatching(message)]);
});
