import { dkimVerify } from 'mailauth';
import PostalMime from 'postal-mime';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as emails from '../../../shared/db/email/emails.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import * as emailDomains from '../../../shared/domain/email/domains/domains.ts';
import * as email from '../../../shared/domain/email/email.ts';
import * as systemMail from '../../../shared/domain/operations/system-mail.ts';
import * as suppressions from '../../../shared/domain/suppressions.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { EmailFilter } from '../../../shared/schemas/email/email.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { countOf } from '../../support/database/counts.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';

useDatabase();

let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
});
beforeEach(() => changeSettings({ SYSTEM_SENDER: 'Platform <alerts@platform.example>' }));

const mail = { subject: 'Something is wrong', text: 'Look at it.\n' };
let recipients = 0;
const newRecipient = () => `operator-${(recipients += 1)}@example.com`;

async function stored(recipient?: string): Promise<emails.EmailRecord[]> {
  const page = { limit: 100, before: null };
  const filter = { recipientKey: recipient };
  return (await emails.listEmails(workspaces.systemWorkspaceId, filter, page)).records;
}

/** Sends a mail by running its job; returns the message that the relay gets. */
async function sent(recipient = newRecipient()) {
  await transaction(() => systemMail.send(recipient, mail));
  const [record] = await stored(recipient);
  expect(await attempt(record!.id)).toBe('done');
  const message = sink.messages.find(({ envelope }) => envelope.to.includes(recipient))!;
  return { ...message, record: record!, parsed: await PostalMime.parse(message.raw) };
}

test('a mail goes out in the platform’s name, as plain text, without a domain of its own', async () => {
  const { envelope, parsed, raw, record } = await sent();
  expect(envelope.from).toBe('alerts@platform.example');
  expect(parsed.from).toEqual({ address: 'alerts@platform.example', name: 'Platform' });
  expect([parsed.subject, parsed.text?.trim(), parsed.html]).toEqual([
    mail.subject,
    'Look at it.',
    undefined,
  ]);
  expect(parsed.messageId).toBe(`<${record.id}@platform.example>`);
  expect(raw.toString()).not.toContain('DKIM-Signature');
});

test('it is signed once its domain is verified in the platform’s workspace', async () => {
  await systemMail.prepare();
  const own = (await workspaces.listAll()).find(({ id }) => id === workspaces.systemWorkspaceId)!;
  expect(own.name).toBe('System');
  changeSettings({ SYSTEM_SENDER: 'alerts@signed.example' });
  const domain = await emailDomains.addVerified(own.id, 'signed.example');
  const { raw } = await sent();
  const { results } = await dkimVerify(raw, {
    curTime: now(),
    resolver: async () => [[domain.dkimPublicKey]],
  });
  expect(results).toMatchObject([{ signingDomain: 'signed.example', status: { result: 'pass' } }]);
});

test('it is in no customer’s listing, events or suppressions', async () => {
  const own = await workspace();
  const recipient = newRecipient();
  await transaction(() =>
    suppressions.add(
      own.workspaceId,
      { number: null, email: recipient, emailKey: recipient, scope: 'all' },
      'api',
      null,
    ),
  );
  const { record } = await sent(recipient);
  expect((await stored(recipient))[0]).toMatchObject({ status: 'sent', bypassSuppressions: true });
  const caller = callerOf(own);
  expect((await email.list(caller, EmailFilter.parse({}))).data).toEqual([]);
  await expect(email.find(caller, record.id)).rejects.toMatchObject({ code: 'not_found' });
  const rows = await query('SELECT type FROM events WHERE workspace_id = ?', [idToBytes(own.workspaceId)]);
  expect(rows.map((row) => row['type'])).toEqual(['suppression.created']);
});

test('what is rolled back sends nothing', async () => {
  const recipient = newRecipient();
  const open = transaction(async () => {
    await systemMail.send(recipient, mail);
    throw new Error('changed my mind');
  });
  await expect(open).rejects.toThrow('changed my mind');
  expect(await stored(recipient)).toEqual([]);
});

test.each([
  ['no sender', { SYSTEM_SENDER: undefined }, 'a@example.com', 'no_sender'],
  ['no recipient', {}, null, 'no_recipient'],
  ['a recipient that is none', {}, 'nobody', 'no_recipient'],
])('with %s nothing is sent, nothing fails, and it is counted', async (_what, settings, to, reason) => {
  changeSettings(settings);
  const before = (await stored()).length;
  const leftOut = () => countOf(`system_mails_left_out{reason="${reason}"}`);
  const leftOutBefore = await leftOut();
  await transaction(() => systemMail.send(to, mail));
  expect(await leftOut()).toBe(leftOutBefore + 1);
  expect(await stored()).toHaveLength(before);
});
