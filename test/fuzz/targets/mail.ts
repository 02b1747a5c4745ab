import { isWhole } from '../../../shared/domain/email/mail-reports/head.ts';
import { readMail, TooComplex } from '../../../shared/formats/email/mail-report.ts';
import { composeMessage } from '../../../shared/formats/email/mime-message.ts';
import { enhancedCodeOf, inOneLine, verdictOf } from '../../../shared/formats/email/smtp-reply.ts';
import * as sandbox from '../../../shared/sandbox/mail.ts';
import { many, sequence, word } from '../grammar.ts';
import { mail, smtpReply } from '../grammars/mail.ts';
import { claim, claimNoPath, kib, ofText, type Target } from './target.ts';

/** The most bytes that are ever read of a message. */
const mostBytes = 256 * kib;
const key = { 's1._domainkey.example.com': ['v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC7'] };
const keys = new Map(Object.entries(key));

async function inSandbox(reading: Promise<sandbox.ReadResult<unknown>>): Promise<void> {
  const result = await reading;
  if (!result.ok && !result.busy) claimNoPath(result.fault);
}

export const mailTargets: Target[] = [
  {
    name: 'mail',
    grammar: mail,
    mostBytes,
    // Mail is read in a thread of its own, within a second.
    mostMs: 1_000,
    read(bytes) {
      isWhole(bytes);
      try {
        const { report, deliveredTo } = readMail(bytes);
        const reported = report.kind === 'complaint' ? report.recipients : [];
        const named = [...deliveredTo, ...reported];
        for (const address of named) claim(!/\p{Cc}/u.test(address), 'an address with a control character');
        if (report.kind === 'delivery') for (const { reply } of report.recipients) verdictOf(reply);
      } catch (error) {
        if (!(error instanceof TooComplex)) throw error;
      }
    },
  },
  {
    name: 'mail-thread',
    grammar: mail,
    mostBytes,
    read: (bytes) => inSandbox(sandbox.readMail('fuzz', bytes)),
  },
  {
    name: 'signed-mail',
    grammar: mail,
    mostBytes,
    read: (bytes) =>
      inSandbox(sandbox.readSignedMail('fuzz', bytes, { keys, at: new Date('2026-11-23T10:00:00Z') })),
  },
  {
    name: 'smtp-reply',
    grammar: smtpReply,
    mostBytes: 64 * kib,
    read: ofText((text) => {
      const line = inOneLine(text);
      claim(line.length <= 1000 && !/[\r\n]/.test(line), 'a reply of several lines');
      verdictOf({ stage: 'rcpt', code: 550, enhanced: enhancedCodeOf(text), text: line });
    }),
  },
  {
    name: 'compose',
    grammar: sequence(word, '\n', word, '\n', many(word, 0, 20, ' '), '\n', many(word, 0, 60, '\n')),
    mostBytes: 64 * kib,
    read: ofText(async (source) => {
      const [displayName = '', header = '', subject = '', ...lines] = source.split('\n');
      const email = {
        messageId: 'a@b.example',
        date: new Date(0),
        from: { address: 'ada@example.com', displayName: displayName || null },
        to: 'bob@example.com',
        subject,
        html: null,
        text: lines.join('\n'),
        headers: { 'X-Fuzz': header },
      };
      const text = (await composeMessage(email)).toString('latin1');
      claim(/^[\t\r\n\x20-\x7e]*$/.test(text), 'a message with more than ASCII');
      claim(!/[^\r]\n|\r[^\n]/.test(text), 'a line that does not end in CRLF');
      const [head = ''] = text.split('\r\n\r\n');
      claim(
        text.split('\r\n').every(({ length }) => length <= 998),
        'a line of more than 998 characters',
      );
      const names = head.split('\r\n').filter((line) => !/^[ \t]/.test(line));
      claim(
        names.every((line) => /^[!-9;-~]+:/.test(line)),
        'a line of the head that is no field',
      );
      claim(
        names.filter((line) => line.startsWith('X-Fuzz:')).length === 1,
        'a header that is not there once',
      );
    }),
  },
];
