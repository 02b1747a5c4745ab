import { expect, test } from 'vitest';
import {
  enhancedCodeOf,
  replyTable,
  type SmtpReply,
  verdictOf,
} from '../../../shared/formats/email/smtp-reply.ts';

/** An answer for each row of the table, in its order. */
const answers: [SmtpReply['stage'], string, category: string, code: string, outcome: 'retry' | 'fail'][] = [
  ['mail', '530 5.7.0 Authentication required', 'soft_bounce', 'relay_login_required', 'retry'],

  ['data', '452 4.3.4 Too big for now', 'soft_bounce', 'message_too_large', 'retry'],
  ['mail', '452 Out of disk', 'soft_bounce', 'relay_temporarily_refused', 'retry'],
  ['rcpt', '452 4.2.2 Mailbox full', 'soft_bounce', 'mailbox_full', 'retry'],
  ['rcpt', '451 4.7.1 Greylisted', 'soft_bounce', 'temporarily_refused_by_policy', 'retry'],
  ['data', '421 4.3.2 Closing', 'soft_bounce', 'server_closing', 'retry'],
  ['data', '452 Out of disk', 'soft_bounce', 'insufficient_storage', 'retry'],
  ['rcpt', '450 4.2.1 Busy', 'soft_bounce', 'temporarily_refused', 'retry'],

  ['rcpt', '550 5.1.1 No such user', 'hard_bounce', 'mailbox_unknown', 'fail'],
  ['rcpt', '550 5.1.2 No such host', 'hard_bounce', 'domain_unknown', 'fail'],
  ['rcpt', '553 5.1.3 Bad syntax', 'hard_bounce', 'address_invalid', 'fail'],
  ['rcpt', '550 5.2.1 Disabled', 'hard_bounce', 'mailbox_disabled', 'fail'],

  ['mail', '553 5.1.8 Bad sender domain', 'rejected', 'sender_refused', 'fail'],
  ['rcpt', '552 5.2.2 Full', 'soft_bounce', 'mailbox_full', 'fail'],
  ['data', '552 5.3.4 Too big', 'rejected', 'message_too_large', 'fail'],
  ['rcpt', '554 5.7.1 Relay access denied', 'rejected', 'relay_denied', 'fail'],
  ['data', '550 5.7.26 Not authenticated', 'rejected', 'authentication_failed', 'fail'],
  ['data', '554 5.7.1 This is spam', 'rejected', 'content_refused', 'fail'],
  ['rcpt', '550 5.7.1 Not welcome', 'rejected', 'refused_by_policy', 'fail'],
  ['data', '554 5.6.0 Malformed', 'rejected', 'content_refused', 'fail'],
  ['rcpt', '503 5.5.1 Out of order', 'rejected', 'protocol_error', 'fail'],

  ['data', '552 Too big', 'rejected', 'message_too_large', 'fail'],
  ['rcpt', '552 Quota exceeded', 'soft_bounce', 'mailbox_full', 'fail'],
  ['rcpt', '554 Relaying denied', 'rejected', 'relay_denied', 'fail'],
  ['rcpt', '550 Sender verify failed', 'rejected', 'sender_refused', 'fail'],
  ['rcpt', '554 SPF check failed', 'rejected', 'authentication_failed', 'fail'],
  ['rcpt', '554 Listed at Spamhaus', 'rejected', 'refused_by_policy', 'fail'],
  ['data', '554 Unsolicited mail', 'rejected', 'content_refused', 'fail'],
  ['rcpt', '550 Mailbox is full', 'soft_bounce', 'mailbox_full', 'fail'],
  ['rcpt', '550 Mailbox unavailable, invalid DNS record', 'rejected', 'sender_refused', 'fail'],
  ['rcpt', '550 Mailbox unavailable, try again later', 'rejected', 'refused_by_policy', 'fail'],
  ['rcpt', '550 User unknown', 'hard_bounce', 'mailbox_unknown', 'fail'],
  ['rcpt', '550 Denied', 'rejected', 'refused_by_policy', 'fail'],
  ['rcpt', '550 No', 'hard_bounce', 'mailbox_unknown', 'fail'],
  ['data', '501 Bad argument', 'rejected', 'protocol_error', 'fail'],
  ['mail', '554 No', 'rejected', 'sender_refused', 'fail'],
  ['rcpt', '551 Not here', 'rejected', 'recipient_refused', 'fail'],
  ['data', '554 No', 'rejected', 'message_refused', 'fail'],
];

test('there is an answer here for every row of the table', () => {
  expect(answers).toHaveLength(replyTable.length);
});

test.each(answers.map((answer, row) => ({ row, answer })))(
  'row $row decides on: $answer',
  ({ row, answer: [stage, text, category, code, outcome] }) => {
    const verdict = verdictOf({
      stage,
      code: Number(text.slice(0, 3)),
      enhanced: enhancedCodeOf(text),
      text,
    });
    expect(verdict).toMatchObject({ category, code, outcome, suppress: category === 'hard_bounce' });
    expect(verdict).toBe(replyTable[row]!.verdict);
  },
);
