import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { type EmailRecordFilter, listEmails } from '../../../shared/db/email/emails.ts';
import { listSms } from '../../../shared/db/sms/listings.ts';
import { listSuppressions } from '../../../shared/db/suppressions.ts';
import { idFromBytes, idToBytes } from '../../../shared/formats/ids.ts';
import { startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { copyRow } from '../../support/database/copied-rows.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';

useDatabase();

/** Number of rows. Each filter alone matches many of them; two filters together match hardly any. */
const many = 12_000;
const limit = 50;
/** Most rows that a page may read: some windows of a thousand rows with index entries, and a count per filter. */
const most = 16_000;

let own: Awaited<ReturnType<typeof textingWorkspace>>;
const idOf = (n: string) => `UNHEX(CONCAT('0001', LPAD(HEX(${n}), 28, '0')))`;

beforeAll(async () => {
  const api = await startApi();
  own = await textingWorkspace();
  const email = idToBytes((await acceptEmail(own)).id);
  const sms = idToBytes((await sendSms(api, own)).id);
  const { body } = await api.request('POST', '/v2/suppressions', {
    key: own.key,
    body: { email: 'gone@example.com', scope: 'all' },
  });
  // Every other row has one value; row 100, among the oldest, matches both filters.
  const either = (one: string, other: string) => `IF(n = 100 OR n % 2 = 0, ${one}, ${other})`;
  const or = (one: string, other: string) => `IF(n % 2 = 0, ${other}, ${one})`;
  await copyRow('emails', email, many, {
    id: idOf('n'),
    status: either("'sent'", "'failed'"),
    kind: `IF(n = 100, 'marketing', ${or("'marketing'", "'transactional'")})`,
    client_tag: "IF(n = 3, 'rare', 'usual')",
  });
  await copyRow('sms_messages', sms, many, {
    id: idOf('n'),
    status: either("'sent'", "'failed'"),
    sender: `IF(n = 100, 'Other', ${or("'Other'", "'Acme'")})`,
  });
  await copyRow('suppressions', idToBytes(body.id), many, {
    id: idOf('n'),
    email: "CONCAT('gone', n, '@example.com')",
    email_key: "CONCAT('gone', n, '@example.com')",
    scope: either("'all'", "'marketing'"),
    source: `IF(n = 100, 'web', ${or("'web'", "'api'")})`,
  });
  await query('ANALYZE TABLE emails, sms_messages, suppressions');
});

type Listed = { records: { id: string }[]; reached: string | null };

async function pages(list: (before: string | null) => Promise<Listed>): Promise<string[][]> {
  const found: string[][] = [];
  let before: string | null = null;
  do {
    let page: Listed | undefined;
    const at: string | null = before;
    const read = await rowsRead(async () => {
      page = await list(at);
    });
    expect(read).toBeLessThanOrEqual(most);
    expect(page!.records.length).toBeLessThanOrEqual(limit);
    found.push(page!.records.map(({ id }) => id));
    before = page!.reached;
  } while (before !== null);
  return found;
}

const numbered = (prefix: 'email' | 'sms' | 'suppression', n: number) =>
  idFromBytes(prefix, Buffer.from(`0001${n.toString(16).padStart(28, '0')}`, 'hex'));

// Shows A63
test('what hardly any row has together is found, on pages of which each costs no more than any other', async () => {
  const page = (before: string | null) => ({ limit, before });
  const emails = await pages((before) =>
    listEmails(own.workspaceId, { status: 'sent', kind: 'marketing' }, page(before)),
  );
  expect(emails.flat()).toEqual([numbered('email', 100)]);
  // Few pages are enough: there is not a page for every few rows.
  expect(emails.length).toBeLessThanOrEqual(4);
  const texts = await pages((before) =>
    listSms(own.workspaceId, { status: 'sent', sender: 'Other' }, page(before)),
  );
  expect(texts.flat()).toEqual([numbered('sms', 100)]);
  const gone = await pages((before) =>
    listSuppressions(own.workspaceId, { scope: 'all', source: 'web' }, page(before)),
  );
  expect(gone.flat()).toEqual([numbered('suppression', 100)]);
});

test.each<[EmailRecordFilter, number]>([
  [{ status: 'failed', kind: 'marketing', clientTag: 'rare' }, 1],
  [{ status: 'sent', clientTag: 'rare' }, 0],
])('%o goes by what fewest rows have, and is done on one page', async (filter, found) => {
  const all = await pages((before) => listEmails(own.workspaceId, filter, { limit, before }));
  expect(all.map(({ length }) => length)).toEqual([found]);
});

test('pages of what half of the rows have together are full, and have no gap', async () => {
  const all = await pages((before) =>
    listEmails(own.workspaceId, { status: 'sent', kind: 'transactional' }, { limit, before }),
  );
  const expected: string[] = [];
  for (let n = many; n > 0; n -= 1) if (n % 2 === 0 && n !== 100) expected.push(numbered('email', n));
  expect(all.flat()).toEqual(expected);
  expect(all.slice(0, -1).every(({ length }) => length === limit)).toBe(true);
});
