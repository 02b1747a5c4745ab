import { expect, test } from 'vitest';
import {
  enhancedCodeOf,
  inOneLine,
  type SmtpStage,
  verdictOf,
} from '../../../shared/formats/email/smtp-reply.ts';

function judge(stage: SmtpStage, reply: string) {
  return verdictOf({ stage, code: Number(reply.slice(0, 3)), enhanced: enhancedCodeOf(reply), text: reply });
}

test.each<[SmtpStage, string, string]>([
  ['rcpt', '550 5.1.1 No such user', 'mailbox_unknown'],
  [
    'rcpt',
    '550-5.1.1 The email account that you tried to reach does not exist. See https://example.com',
    'mailbox_unknown',
  ],
  ['rcpt', '553 5.1.2 Host unknown', 'domain_unknown'],
  ['rcpt', '501 5.1.3 Bad address syntax', 'address_invalid'],
  ['rcpt', '551 5.1.6 Mailbox has moved', 'mailbox_unknown'],
  ['rcpt', '550 5.1.10 Recipient not found', 'mailbox_unknown'],
  ['rcpt', '550 5.2.1 Mailbox disabled', 'mailbox_disabled'],
  ['rcpt', '550 User unknown', 'mailbox_unknown'],
  [
    'rcpt',
    '550 <ada@example.com>: Recipient address rejected: User unknown in local recipient table',
    'mailbox_unknown',
  ],
  ['rcpt', '550 Requested action not taken: mailbox unavailable', 'mailbox_unknown'],
  ['rcpt', '550 No such person at this address', 'mailbox_unknown'],
  ['rcpt', '550 Invalid recipient', 'mailbox_unknown'],
  ['rcpt', '550 No', 'mailbox_unknown'],
  ['rcpt', '550 mailbox unavailable', 'mailbox_unknown'],
  ['rcpt', '550 No such user here', 'mailbox_unknown'],
  ['rcpt', '550 User unknown. Please check the address and send your message again', 'mailbox_unknown'],
  // A host or an address is no word about the sender.
  ['rcpt', '550 mx.example.com <dns@mx.example.com>: no such user at mx-1', 'mailbox_unknown'],
  [
    'rcpt',
    '550 Mailbox not found [MGzPcMqY6e1thdw5 IP: 192.0.2.1]. https://mail.example/help',
    'mailbox_unknown',
  ],
])('at %s `%s` is a hard bounce that suppresses the address: %s', (stage, reply, code) => {
  expect(judge(stage, reply)).toEqual({
    outcome: 'fail',
    category: 'hard_bounce',
    code,
    retryable: false,
    suppress: true,
  });
});

test.each<[SmtpStage, string, string]>([
  // The codes of a hard bounce say nothing about the mailbox when they answer another command.
  ['data', '550 5.1.1 No such user', 'message_refused'],
  ['mail', '550 5.1.1 Sender unknown', 'sender_refused'],
  ['data', '550 User unknown', 'message_refused'],
  ['mail', '550 No such user', 'sender_refused'],
  // A 5xx without enhanced code other than 550.
  ['rcpt', '551 User not local', 'recipient_refused'],
  ['rcpt', '553 Mailbox name not allowed', 'recipient_refused'],
  ['rcpt', '554 No such user', 'recipient_refused'],
  // A bare 550 that names a policy, or refuses something else than the mailbox.
  ['rcpt', '550 Relaying denied', 'relay_denied'],
  ['rcpt', '550 Sender verify failed: no such user', 'sender_refused'],
  [
    'rcpt',
    '550-Verification failed for <a@b.example> 550-No such user here 550 Sender verify failed',
    'sender_refused',
  ],
  ['rcpt', '550 SPF check failed', 'authentication_failed'],
  ['rcpt', '550 No PTR record for your host', 'authentication_failed'],
  ['rcpt', '550 Service unavailable, client host blocked using Spamhaus', 'refused_by_policy'],
  ['rcpt', '550 Your IP is listed at dnsbl.example', 'refused_by_policy'],
  ['rcpt', '550 Message looks like spam', 'content_refused'],
  ['rcpt', '550 Access denied', 'refused_by_policy'],
  ['rcpt', '550 Rejected, see https://example.com/why', 'refused_by_policy'],
  ['rcpt', '550 Too many invalid commands', 'refused_by_policy'],
  ['rcpt', '550 Administrative prohibition', 'refused_by_policy'],
  // The reason stands after words about the mailbox.
  [
    'rcpt',
    '550-Requested action not taken: mailbox unavailable 550 invalid DNS MX or A/AAAA resource record',
    'sender_refused',
  ],
  ['rcpt', '550 IP address not found in DNS', 'sender_refused'],
  ['rcpt', '550 Your IP address is invalid', 'sender_refused'],
  ['rcpt', '550 The domain of the MAIL FROM address does not exist', 'sender_refused'],
  [
    'rcpt',
    '550-Requested action not taken: mailbox unavailable 550 Failure sending mail. Try again later',
    'refused_by_policy',
  ],
  [
    'rcpt',
    '550-Requested action not taken: mailbox unavailable 550 Reject due to policy restrictions',
    'refused_by_policy',
  ],
  ['rcpt', '550 Mailbox unavailable or access denied', 'refused_by_policy'],
  ['rcpt', '550 Too many invalid recipients', 'refused_by_policy'],
  ['rcpt', '550 Ip frequency limited', 'refused_by_policy'],
  // Enhanced codes.
  ['rcpt', '550 5.7.1 Refused', 'refused_by_policy'],
  ['rcpt', '550 5.7.1 Unable to relay', 'relay_denied'],
  ['data', '550 5.7.26 Unauthenticated email is not accepted', 'authentication_failed'],
  ['data', '554 5.7.1 Looks like spam', 'content_refused'],
  ['rcpt', '550 5.1.7 Bad sender', 'sender_refused'],
  ['mail', '553 5.1.8 Sender domain not found', 'sender_refused'],
  ['data', '552 5.3.4 Too big', 'message_too_large'],
  ['data', '554 5.6.0 Bad content', 'content_refused'],
  ['rcpt', '503 5.5.1 Bad sequence', 'protocol_error'],
  ['rcpt', '550 5.5.0 Requested action not taken: mailbox unavailable', 'recipient_refused'],
  ['rcpt', '550 5.4.1 Recipient address rejected: Access denied', 'recipient_refused'],
  // Without an enhanced code.
  ['data', '552 Message exceeds the limit of this server', 'message_too_large'],
  ['data', '552 Too big', 'message_too_large'],
  ['mail', '501 Syntax error', 'protocol_error'],
  ['data', '554 Transaction failed', 'message_refused'],
])('at %s `%s` is a rejection that suppresses nothing: %s', (stage, reply, code) => {
  expect(judge(stage, reply)).toMatchObject({ outcome: 'fail', category: 'rejected', code, suppress: false });
});

test.each<[SmtpStage, string]>([
  ['rcpt', '552 5.2.2 Mailbox full'],
  ['rcpt', '550 Mailbox is full'],
  ['rcpt', '552 User over quota'],
  ['rcpt', '552 No'],
])('at %s `%s` may work later, but is not tried again', (stage, reply) => {
  expect(judge(stage, reply)).toEqual({
    outcome: 'fail',
    category: 'soft_bounce',
    code: 'mailbox_full',
    retryable: true,
    suppress: false,
  });
});

test.each<[SmtpStage, string, string]>([
  ['rcpt', '450 4.2.1 Mailbox busy', 'temporarily_refused'],
  ['rcpt', '452 4.2.2 Mailbox full', 'mailbox_full'],
  ['rcpt', '451 4.7.1 Greylisted', 'temporarily_refused_by_policy'],
  ['mail', '452 4.3.4 Too big for now', 'message_too_large'],
  ['data', '452 Insufficient storage', 'insufficient_storage'],
  // The relay speaks of itself: the recipient's server was not asked.
  ['mail', '452 Insufficient storage', 'relay_temporarily_refused'],
  ['mail', '421 4.3.2 Closing', 'relay_temporarily_refused'],
  ['mail', '450 4.7.1 Too many messages', 'relay_temporarily_refused'],
  ['data', '421 4.3.2 Closing', 'server_closing'],
  ['data', '451 Local error', 'temporarily_refused'],
  // A 4xx that names an unknown mailbox still is a 4xx.
  ['rcpt', '450 4.1.1 No such user', 'temporarily_refused'],
  // The relay's settings and ours do not fit: the message is not to blame.
  ['mail', '530 5.7.0 Authentication required', 'relay_login_required'],
  ['mail', '530 Must issue a STARTTLS command first', 'relay_login_required'],
  ['mail', '454 4.7.0 Login failed', 'relay_login_required'],
  // An answer that the protocol does not allow here.
  ['rcpt', '354 Go on', 'unexpected_reply'],
])('at %s `%s` is tried again: %s', (stage, reply, code) => {
  expect(judge(stage, reply)).toEqual({
    outcome: 'retry',
    category: 'soft_bounce',
    code,
    retryable: true,
    suppress: false,
  });
});

test('every code is in snake_case, whatever a server says', () => {
  const codes = [421, 450, 451, 452, 500, 501, 530, 535, 550, 551, 552, 553, 554, 571].flatMap((code) =>
    (['mail', 'rcpt', 'data'] as const).map((stage) => judge(stage, `${code} what`).code),
  );
  for (const code of codes) expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
});

test.each([
  ['550 5.1.1 No', '5.1.1'],
  ['550-5.7.26 No\n550 5.7.26 No', '5.7.26'],
  ['250 2.0.0 Ok', '2.0.0'],
  ['450 4.2.1', '4.2.1'],
  ['550 No', null],
  ['550 4.1.1 The class does not agree', null],
  ['550 5.1.1.1 No code', null],
  ['550 192.0.2.1 is blocked', null],
])('the enhanced code of `%s` is %s', (reply, enhanced) => {
  expect(enhancedCodeOf(reply)).toBe(enhanced);
});

test('a reply is kept as one line of at most 1,000 characters', () => {
  expect(inOneLine('550-5.7.1 No\r\n550 5.7.1\0 Never\n')).toBe('550-5.7.1 No 550 5.7.1 Never');
  expect(inOneLine('x'.repeat(100_000))).toHaveLength(1000);
});
