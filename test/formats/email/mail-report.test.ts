import { describe, expect, test } from 'vitest';
import { readMail } from '../../../shared/formats/email/mail-report.ts';
import { verdictOf } from '../../../shared/formats/email/smtp-reply.ts';
import { feedbackReport, statusReport } from '../../support/data/mail-reports.ts';

const read = (text: string) => readMail(Buffer.from(text.replaceAll(/\r?\n/g, '\r\n')));

function onlyRecipient(raw: Buffer | string) {
  const { report } = typeof raw === 'string' ? read(raw) : readMail(raw);
  if (report.kind !== 'delivery') throw new Error(`It is ${report.kind}`);
  expect(report.recipients).toHaveLength(1);
  return report.recipients[0]!;
}

function verdict(raw: Buffer | string): string {
  const { category, code, suppress } = verdictOf(onlyRecipient(raw).reply);
  return `${category} ${code}${suppress ? ', suppressed' : ''}`;
}

describe('a delivery report', () => {
  test('gives the action, the addresses in each form, and what was answered', () => {
    expect(
      onlyRecipient(statusReport({ recipient: 'b@relay.example', original: 'ada+2Bx@example.com' })),
    ).toEqual({
      action: 'failed',
      addresses: ['ada+2Bx@example.com', 'ada+x@example.com', 'b@relay.example'],
      reply: { stage: 'report', code: 550, enhanced: '5.1.1', text: '550 5.1.1 No such mailbox' },
    });
  });

  test.each(['failed', 'delayed', 'delivered', 'relayed', 'expanded'])('of the action %s', (action) => {
    expect(onlyRecipient(statusReport({ action }))).toMatchObject({ action });
    expect(onlyRecipient(statusReport({ action: `${action.toUpperCase()} (as it were)` }))).toMatchObject({
      action,
    });
  });

  test('tells of several recipients', () => {
    const raw = statusReport().toString();
    const second = 'Final-Recipient: rfc822; <eve@example.com>\r\nAction: delivered\r\nStatus: 2.0.0';
    const { report } = read(raw.replace('Remote-MTA: dns; mx.example.com', `\r\n${second}`));
    expect(report).toMatchObject({
      recipients: [
        { action: 'failed', addresses: ['ada@example.com'] },
        { action: 'delivered', addresses: ['eve@example.com'] },
      ],
    });
  });

  test('is read from its beginning when the returned message is cut off', () => {
    const raw = statusReport({ headers: ['Message-ID: <one@example.org>', `Subject: ${'x'.repeat(5000)}`] });
    expect(readMail(raw.subarray(0, raw.length - 3000))).toMatchObject({
      report: { kind: 'delivery' },
      reportedMessageId: 'one@example.org',
    });
  });

  test('in base64, in UTF-8 form (RFC 6533) and with bare line feeds is read too', () => {
    const raw = statusReport().toString();
    const [, status] = /message\/delivery-status\r\n\r\n(.*?)\r\n\r\n--/s.exec(raw) as unknown as [
      string,
      string,
    ];
    const inBase64 = raw.replace(
      `message/delivery-status\r\n\r\n${status}`,
      `message/delivery-status\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(status).toString('base64')}`,
    );
    expect(verdict(inBase64)).toBe('hard_bounce mailbox_unknown, suppressed');
    const global = raw.replace('message/delivery-status', 'message/global-delivery-status');
    expect(verdict(global)).toBe('hard_bounce mailbox_unknown, suppressed');
    expect(readMail(Buffer.from(raw.replaceAll('\r\n', '\n'))).report.kind).toBe('delivery');
  });

  test('without a recipient or a known action is unreadable', () => {
    expect(readMail(statusReport({ action: 'exploded' })).report).toEqual({ kind: 'unreadable' });
    const raw = statusReport().toString().replace('Final-Recipient', 'Recipient');
    expect(read(raw).report).toEqual({ kind: 'unreadable' });
  });

  test('attached to an ordinary message is somebody forwarding it, and no report', () => {
    const raw = statusReport().toString().replace('multipart/report', 'multipart/mixed');
    expect(read(raw).report).toEqual({ kind: 'none' });
  });
});

describe('what a refusal in a report means', () => {
  test.each([
    // The codes of API decisions §7 decide, no matter which command they answered.
    ['5.1.1', 'smtp; 550 5.1.1 No such mailbox', 'hard_bounce mailbox_unknown, suppressed'],
    ['5.1.2', 'smtp; 550 5.1.2 No such host', 'hard_bounce domain_unknown, suppressed'],
    ['5.1.3', 'smtp; 501 5.1.3 Bad address', 'hard_bounce address_invalid, suppressed'],
    ['5.1.6', 'smtp; 551 5.1.6 Moved', 'hard_bounce mailbox_unknown, suppressed'],
    [
      '5.1.10',
      'smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found',
      'hard_bounce mailbox_unknown, suppressed',
    ],
    ['5.2.1', 'smtp; 550 5.2.1 Disabled', 'hard_bounce mailbox_disabled, suppressed'],
    ['5.1.1', 'X-Postfix; unknown user: "ada"', 'hard_bounce mailbox_unknown, suppressed'],
    ['5.1.1', null, 'hard_bounce mailbox_unknown, suppressed'],
    // The diagnostic text decides where the status is too general.
    ['5.0.0', 'smtp; 550 5.1.1 No such mailbox', 'hard_bounce mailbox_unknown, suppressed'],
    [
      '5.0.0',
      'smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 again',
      'hard_bounce mailbox_unknown, suppressed',
    ],
    [
      '5.0.0',
      'smtp; 450 Requested mail action not taken: mailbox unavailable',
      'soft_bounce temporarily_refused',
    ],
    ['5.0.0', 'smtp; 550 User unknown', 'hard_bounce mailbox_unknown, suppressed'],
    [
      '5.0.0',
      'smtp; 550-Requested action not taken: mailbox unavailable 550 invalid DNS MX or A/AAAA resource record',
      'rejected sender_refused',
    ],
    // A bare 550 may be the answer to the message, not to the recipient.
    ['5.0.0', 'smtp; 550 Requested action not taken', 'rejected recipient_refused'],
    ['5.0.0', 'smtp; 550 Message blocked, see https://example.com', 'rejected refused_by_policy'],
    ['5.7.1', 'smtp; 554 5.7.1 Refused by policy', 'rejected refused_by_policy'],
    ['5.7.26', 'smtp; 550 5.7.26 Unauthenticated', 'rejected authentication_failed'],
    ['5.3.4', 'smtp; 552 5.3.4 Too large', 'rejected message_too_large'],
    ['5.2.2', 'smtp; 552 5.2.2 Full', 'soft_bounce mailbox_full'],
    ['5.1.7', 'smtp; 550 5.1.7 Bad sender', 'rejected sender_refused'],
    ['5.4.4', 'X-Postfix; Host or domain name not found', 'rejected recipient_refused'],
    ['5.4.6', 'X-Postfix; mail for example.com loops back to myself', 'rejected recipient_refused'],
    // The server gave up after too long.
    [
      '4.4.1',
      'X-Postfix; connect to mx.example.com[192.0.2.1]:25: Connection timed out',
      'soft_bounce temporarily_refused',
    ],
    ['4.2.2', 'smtp; 452 4.2.2 Over quota', 'soft_bounce mailbox_full'],
    ['4.7.0', 'smtp; 550 5.7.1 Refused', 'soft_bounce temporarily_refused_by_policy'],
    // Nonsense decides nothing about the mailbox.
    ['2.0.0', 'smtp; 250 OK', 'soft_bounce unexpected_reply'],
    ['perhaps', 'who knows', 'rejected recipient_refused'],
    ['', null, 'rejected recipient_refused'],
  ])('%s, %s: %s', (status, diagnostic, expected) => {
    expect(verdict(statusReport({ status, diagnostic }))).toBe(expected);
  });

  test('a bare 550 that answered RCPT, as Postfix says in words, is a hard bounce', () => {
    const bare = { status: '5.0.0', diagnostic: 'smtp; 550 Requested action not taken' };
    const at = (command: string) =>
      statusReport({
        ...bare,
        explanation: `<ada@example.com>: host mx said: 550 (in reply to ${command} command)`,
      });
    expect(verdict(at('RCPT TO'))).toBe('hard_bounce mailbox_unknown, suppressed');
    // Postfix breaks a long line between any two words.
    expect(verdict(at('RCPT\r\n    TO'))).toBe('hard_bounce mailbox_unknown, suppressed');
    expect(verdict(at('end of DATA'))).toBe('rejected message_refused');
  });

  test.each([
    [
      '550 User unknown (in\r\n    reply to RCPT\r\n    TO command)',
      'hard_bounce mailbox_unknown, suppressed',
    ],
    ['(in reply to MAIL FROM command)', 'rejected sender_refused'],
    ['(in reply to DATA command)', 'rejected message_refused'],
    ['(in\r\n    reply to end of DATA\r\n    command)', 'rejected message_refused'],
    // Exim
    [
      'error from remote mail server after RCPT TO:<ada@example.com>:',
      'hard_bounce mailbox_unknown, suppressed',
    ],
    ['error from remote mail server after pipelined MAIL FROM:<b@example.org>:', 'rejected sender_refused'],
    ['error from remote mail server after end of data:', 'rejected message_refused'],
  ])('a bare 550 that names a mailbox counts by the command it answered: %j', (explanation, expected) => {
    const bare = { status: '5.0.0', diagnostic: 'smtp; 550 mailbox unavailable' };
    expect(verdict(statusReport({ ...bare, explanation }))).toBe(expected);
    // An enhanced code decides, no matter which command it answered.
    expect(verdict(statusReport({ explanation }))).toBe('hard_bounce mailbox_unknown, suppressed');
  });

  test('a 530 that another server gave to MAIL FROM is no fault of our relay', () => {
    const bare = { status: '5.0.0', diagnostic: 'smtp; 530 Authentication required' };
    const explanation = '(in reply to MAIL FROM command)';
    expect(verdict(statusReport({ ...bare, explanation }))).toBe('rejected authentication_failed');
  });
});

describe('a bounce of qmail', () => {
  const qmail = (reason: string) => `From: MAILER-DAEMON@qmail.example
To: bounce@example.org
Subject: failure notice

Hi. This is the qmail-send program at qmail.example.
I'm afraid I wasn't able to deliver your message to the following addresses.

<ada@example.com>:
${reason}

--- Below this line is a copy of the message.

Subject: A subject
`;
  test.each([
    [
      '192.0.2.1 does not like recipient.\nRemote host said: 550 Requested action not taken\nGiving up on 192.0.2.1.',
      'hard_bounce mailbox_unknown, suppressed',
    ],
    [
      '192.0.2.1 failed after I sent the message.\nRemote host said: 554 5.6.0 Content refused',
      'rejected content_refused',
    ],
    [
      '192.0.2.1 failed after I sent the message.\nRemote host said: 550 mailbox unavailable',
      'rejected message_refused',
    ],
    [
      '192.0.2.1 failed on DATA command.\nRemote host said: 550 mailbox unavailable',
      'rejected message_refused',
    ],
    [
      'Connected to 192.0.2.1 but sender was rejected.\nRemote host said: 550 mailbox unavailable',
      'rejected sender_refused',
    ],
    [
      '192.0.2.1 does not like recipient.\nRemote host said: 550 mailbox unavailable',
      'hard_bounce mailbox_unknown, suppressed',
    ],
    [
      '192.0.2.1 failed after I sent the message.\nRemote host said: 550 5.1.1 No such user',
      'hard_bounce mailbox_unknown, suppressed',
    ],
    ['Sorry, no mailbox here by that name. (#5.1.1)', 'hard_bounce mailbox_unknown, suppressed'],
    [
      "Sorry, I wasn't able to establish an SMTP connection. (#4.4.1)\nI'm not going to try again; this message has been in the queue too long.",
      'soft_bounce temporarily_refused',
    ],
  ])('that says %j is read: %s', (reason, expected) => {
    expect(verdict(qmail(reason))).toBe(expected);
  });

  test('is told from any other letter', () => {
    const letter = qmail('No.').replace('Hi. This is the', 'Hi. Here is the');
    expect(read(letter).report).toEqual({ kind: 'none' });
    expect(read('Subject: Out of office\n\nI am away. 550 5.1.1').report).toEqual({ kind: 'none' });
  });
});

describe('a feedback report', () => {
  test('gives its type, the recipient and the message', () => {
    const headers = ['Message-ID: <email_1@example.org>', 'To: Ada <Ada@Example.com>'];
    const raw = feedbackReport({ fields: ['Original-Rcpt-To: <ada@example.com>'], headers });
    expect(readMail(raw)).toEqual({
      report: {
        kind: 'complaint',
        feedbackType: 'abuse',
        recipients: ['ada@example.com', 'Ada@Example.com'],
      },
      deliveredTo: ['fbl@example.org'],
      reportedMessageId: 'email_1@example.org',
      signatures: [],
    });
  });

  test('without a type is unreadable', () => {
    const raw = feedbackReport().toString().replace('Feedback-Type', 'X-Type');
    expect(read(raw).report).toEqual({ kind: 'unreadable' });
  });
});

test.each(['\0ada@example.org', 'ada@exam\x7fple.org'])(
  'a control character makes %j no address, whoever has written it',
  (address) => {
    expect(readMail(statusReport({ to: address })).deliveredTo).toEqual([]);
    const reports = readMail(statusReport({ recipient: address.replace('\0', '+00') })).report;
    expect(JSON.stringify(reports)).not.toMatch(/\\u0000|\x7f/);
  },
);

test('whom a message was delivered to is read from what servers add, before what senders write', () => {
  const added = 'Delivered-To: a@example.org\r\nX-Original-To: b@example.org\r\n';
  expect(
    readMail(Buffer.concat([Buffer.from(added), statusReport({ to: 'c@example.org' })])).deliveredTo,
  ).toEqual(['a@example.org', 'b@example.org', 'c@example.org']);
});
