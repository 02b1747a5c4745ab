import { beforeAll, describe, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import {
  isFeedbackAddress,
  takesMailFor,
} from '../../../../shared/domain/email/mail-reports/mail-reports.ts';
import { makeReturnPath } from '../../../../shared/domain/email/mail-reports/return-path.ts';
import { idToBytes, newId } from '../../../../shared/formats/ids.ts';
import { workspace } from '../../../support/data/factory.ts';
import { feedbackReport, statusReport } from '../../../support/data/mail-reports.ts';
import { emailIn, receive } from '../../../support/data/reported-email.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { rowsOf } from '../../../support/database/rows.ts';
import { changeSettings } from '../../../support/processes/settings.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

type Reported = Awaited<ReturnType<typeof emailIn>>;

describe('a report finds its email', () => {
  test.each<[string, (email: Reported) => [Buffer, string[]]]>([
    ['by the envelope', ({ returnPath }) => [statusReport(), [returnPath]]],
    ['by the envelope, in capitals', ({ returnPath }) => [statusReport(), [returnPath.toUpperCase()]]],
    ['by the header To', ({ returnPath }) => [statusReport({ to: `<${returnPath}>` }), []]],
    [
      'by Delivered-To, when the envelope is that of another server',
      ({ returnPath }) => [
        Buffer.concat([Buffer.from(`Delivered-To: ${returnPath}\r\n`), statusReport()]),
        ['reports@example.org'],
      ],
    ],
    [
      'by the return path of the message that it is about',
      ({ returnPath }) => [statusReport({ headers: [`Return-Path: <${returnPath}>`] }), []],
    ],
  ])('%s', async (_how, make) => {
    const email = await emailIn('sent', own);
    expect(await receive(...make(email))).toBe('changed');
    expect(await email.state()).toEqual(['failed', 'hard_bounce mailbox_unknown']);
  });

  test.each<[string, (email: Reported) => Buffer]>([
    [
      'the return path',
      ({ returnPath }) => feedbackReport({ fields: [`Original-Mail-From: <${returnPath}>`] }),
    ],
    [
      'the Message-ID and the recipient of the message',
      ({ id }) => feedbackReport({ headers: [`Message-ID: <${id}@any.example>`, 'To: Ada@example.com'] }),
    ],
    [
      'the Message-ID and the recipient of the envelope',
      ({ id }) =>
        feedbackReport({
          fields: ['Original-Rcpt-To: <ada@example.com>'],
          headers: [`Message-ID: <${id}@any.example>`],
        }),
    ],
  ])('a complaint to fbl@: by %s', async (_how, make) => {
    const email = await emailIn('delivered', own);
    expect(await receive(make(email), ['fbl@example.org'])).toBe('changed');
    expect(await email.state()).toEqual(['delivered', 'complaint abuse']);
  });
});

describe('nothing changes, anywhere, by', () => {
  const forged = (returnPath: string) => returnPath.replace(/.@/, (end) => (end === '0@' ? '1@' : '0@'));
  test.each<[string, (email: Reported) => [Buffer, string[]], string]>([
    ['a forged token', ({ returnPath }) => [statusReport(), [forged(returnPath)]], 'unknown_email'],
    [
      'a forged token in the headers and the text',
      ({ returnPath }) => [
        statusReport({ to: forged(returnPath), headers: [`Return-Path: <${forged(returnPath)}>`] }),
        [],
      ],
      'unknown_email',
    ],
    [
      'a Message-ID in a delivery report',
      ({ id }) => [statusReport({ headers: [`Message-ID: <${id}@any.example>`] }), ['fbl@example.org']],
      'unknown_email',
    ],
    [
      'a Message-ID in a complaint that names another recipient',
      ({ id }) => [
        feedbackReport({ headers: [`Message-ID: <${id}@any.example>`, 'To: eve@example.com'] }),
        ['fbl@example.org'],
      ],
      'other_recipient',
    ],
    [
      'a Message-ID in a complaint that names none',
      ({ id }) => [feedbackReport({ headers: [`Message-ID: <${id}@any.example>`] }), ['fbl@example.org']],
      'other_recipient',
    ],
    [
      'a report about another recipient',
      ({ returnPath }) => [statusReport({ recipient: 'eve@example.com' }), [returnPath]],
      'other_recipient',
    ],
    [
      'the token of an email that is gone',
      () => [statusReport(), [makeReturnPath(newId('email', new Date()), 'example.org')]],
      'unknown_email',
    ],
    [
      'an automatic answer',
      ({ returnPath }) => [
        Buffer.from(
          `From: ada@example.com\r\nTo: ${returnPath}\r\nAuto-Submitted: auto-replied\r\n\r\nI am away. 550 5.1.1 No such user\r\n`,
        ),
        [returnPath],
      ],
      'no_report',
    ],
    [
      'a report that cannot be read',
      ({ returnPath }) => [statusReport({ action: 'exploded' }), [returnPath]],
      'unreadable',
    ],
  ])('%s', async (_what, make, outcome) => {
    const victim = await workspace();
    const email = await emailIn('sent', victim);
    const before = await rowsOf(victim.workspaceId);
    expect(await receive(...make(email))).toBe(outcome);
    expect(await rowsOf(victim.workspaceId)).toEqual(before);
  });

  test('the return paths of two emails in one text', async () => {
    const [one, two] = [await emailIn('sent', own), await emailIn('sent', own)];
    const headers = [`Return-Path: <${one.returnPath}>`, `X-Other: <${two.returnPath}>`];
    expect(await receive(statusReport({ headers }), [])).toBe('unknown_email');
    expect([await one.state(), await two.state()]).toEqual([
      ['sent', null],
      ['sent', null],
    ]);
  });
});

test('an email that is not yet written down as sent is waited for, and its report not lost', async () => {
  changeSettings({ INBOUND_WAIT_SECONDS: 60 });
  const email = await emailIn('queued', own);
  const received = receive(statusReport(), [email.returnPath]);
  // The report is judged under a lock; the worker's write comes before the lock.
  await query("UPDATE emails SET status = 'sent', sent_at = created_at, due_at = NULL WHERE id = ?", [
    idToBytes(email.id),
  ]);
  expect(await received).toBe('changed');
  expect(await email.state()).toEqual(['failed', 'hard_bounce mailbox_unknown']);
});

test('where it stays unsent, the report is to come again', async () => {
  changeSettings({ INBOUND_WAIT_SECONDS: 0.1 });
  const email = await emailIn('queued', own);
  await expect(receive(statusReport(), [email.returnPath])).rejects.toMatchObject({
    code: 'service_unavailable',
  });
  expect(await email.state()).toEqual(['queued', null]);
});

test('mail is taken for return paths and complaint mailboxes only', async () => {
  const email = await emailIn('sent', own);
  changeSettings({ RETURN_PATH_DOMAIN: 'bounce.example.org' });
  for (const address of [email.returnPath, 'fbl@bounce.example.org', 'ABUSE@BOUNCE.EXAMPLE.ORG'])
    expect([address, takesMailFor(address)]).toEqual([address, true]);
  for (const address of [
    'postmaster@bounce.example.org',
    'fbl@example.org',
    'bounce@bounce.example.org',
    'fbl',
    '',
  ])
    expect([address, takesMailFor(address)]).toEqual([address, false]);
  expect(isFeedbackAddress(email.returnPath)).toBe(false);
});
