import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type IncomingMail, readMail, TooComplex } from '../../../shared/formats/email/mail-report.ts';
import { verdictOf } from '../../../shared/formats/email/smtp-reply.ts';
import { mangled } from '../../support/api/mangled.ts';
import { feedbackReport, statusReport } from '../../support/data/mail-reports.ts';
import { cpuMsOf } from '../../support/processes/cpu-time.ts';

const kib = 1024;
const report = statusReport().toString('latin1');
/** Returns the report with one of its pieces replaced by another text. */
const withPiece = (piece: string, other: string) => {
  expect(report).toContain(piece);
  return report.replace(piece, () => other);
};
const status = (group: string) => withPiece('Remote-MTA: dns; mx.example.com', group);

function nested(depth: number): string {
  const opens = Array.from(
    { length: depth },
    (_, level) => `Content-Type: multipart/mixed; boundary="b${level}"\r\n\r\n--b${level}\r\n`,
  );
  return `MIME-Version: 1.0\r\n${opens.join('')}\r\ntext\r\n`;
}

// The most that is ever read of a message.
const size = 256 * kib;

/** Reads a message; returns null if it is refused as more complex than any report. */
function readOrRefused(raw: Buffer): IncomingMail | null {
  try {
    return readMail(raw);
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    return null;
  }
}

/** A generous limit: the slowest message takes a twentieth of it. */
const mostMs = 1_000;

function expectQuick(raw: Buffer): void {
  let mail: IncomingMail | null = null;
  const ms = cpuMsOf(() => {
    mail = readOrRefused(raw);
    const found = mail?.report;
    if (found?.kind === 'delivery') for (const { reply } of found.recipients) verdictOf(reply);
  });
  expect(ms).toBeLessThan(mostMs);
}

// Shows A57
describe('a hostile message is read within a moment, or refused:', () => {
  test.each<[string, string]>([
    ['nothing', ''],
    ['NULs', '\0'.repeat(size)],
    ['bytes of no charset', '\xff\xfe\xc3('.repeat(size / 4)],
    ['10,000 nested parts', nested(10_000)],
    ['10,000 parts side by side', withPiece('--==report==--', '--==report==\r\n\r\nx\r\n'.repeat(10_000))],
    [
      '10,000 copies of the status',
      withPiece(
        '--==report==--',
        '--==report==\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\n'.repeat(3_000),
      ),
    ],
    ['one header line without end', `Subject: ${'x'.repeat(size)}`],
    ['one folded header without end', `Subject: x\r\n${' x\r\n'.repeat(size / 4)}`],
    ['many headers', 'A: b\r\n'.repeat(size / 6)],
    ['many recipients in a header', `To: ${'a@b.c, '.repeat(size / 7)}`],
    ['encoded words', `Subject: ${'=?utf-8?B?eA==?= '.repeat(size / 18)}`],
    ['open comments', `Content-Type: ${'('.repeat(size)}`],
    ['open quotes', `Content-Type: multipart/report; boundary="${'"'.repeat(size)}`],
    [
      'parameters in pieces',
      `Content-Type: multipart/report; ${Array.from({ length: 10_000 }, (_, index) => `boundary*${index}="x"`).join('; ')}`,
    ],
    ['an empty boundary', withPiece('boundary="==report=="', 'boundary=""')],
    ['no boundary', withPiece('; boundary="==report=="', '')],
    ['a boundary that never comes', withPiece('boundary="==report=="', 'boundary="other"')],
    ['an unknown charset', withPiece('charset=us-ascii', 'charset=x-unknown-\0')],
    [
      'an unknown encoding',
      withPiece('message/delivery-status', 'message/delivery-status\r\nContent-Transfer-Encoding: x-gzip'),
    ],
    [
      'base64 that is none',
      withPiece('message/delivery-status', 'message/delivery-status\r\nContent-Transfer-Encoding: base64'),
    ],
    ['100,000 groups', status('\r\n\r\nA: b'.repeat(30_000))],
    ['a field without end', status(`Diagnostic-Code: smtp; ${'5'.repeat(size)}`)],
    ['a folded field without end', status(`X: y\r\n${' z\r\n'.repeat(50_000)}`)],
    ['blanks without end', status(`X${' '.repeat(size)}`)],
    ['colons without end', status(':'.repeat(size))],
    [
      'an address without end',
      withPiece('rfc822; ada@example.com', `rfc822; ${'a'.repeat(100_000)}@${'b'.repeat(100_000)}`),
    ],
    ['xtext without end', withPiece('rfc822; ada@example.com', `rfc822; ${'+41'.repeat(50_000)}@b.c`)],
    ['a status with codes without end', withPiece('Status: 5.1.1', `Status: 5.${'1'.repeat(100_000)}.1`)],
    [
      'html without end',
      withPiece('text/plain; charset=us-ascii', `text/html\r\n\r\n${'<a href="'.repeat(20_000)}`),
    ],
    [
      'entities without end',
      withPiece('text/plain; charset=us-ascii', `text/html\r\n\r\n${'&amp'.repeat(50_000)}`),
    ],
    ['a letter that is almost qmail’s', `\r\nHi. This is the${'\r\n\r\n<a@b.c>:'.repeat(20_000)}`],
    ['blank lines', `\r\nHi. This is the${'\r\n \r\n\t'.repeat(40_000)}`],
    [
      'a tag without end in a part of html',
      withPiece('text/plain; charset=us-ascii', `text/html\r\n\r\n<a ${'href='.repeat(50_000)}`),
    ],
    [
      'a tag without end in html beside text',
      `Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\nContent-Type: text/html\r\n\r\n<a ${'href='.repeat(50_000)}`,
    ],
    ['carriage returns', `Subject: x${'\r'.repeat(size - 100)}x`],
    ['boundaries within a boundary', `Content-Type: multipart/report; boundary=-\r\n\r\n${'-'.repeat(size)}`],
    ['addresses without @ in many fields', `To: ${'a'.repeat(60)}\r\n`.repeat(900)],
    ['long recipients in many fields', `To: ${'a-b'.repeat(3_000)}\r\n`.repeat(13)],
    ['signatures', `DKIM-Signature: ${'d=a;s=b;'.repeat(1_000)}\r\n`.repeat(15)],
  ])('%s', (_what, text) => {
    expectQuick(Buffer.from(text, 'latin1').subarray(0, size));
  });

  test('anything said again and again, in any place', () => {
    const pieces = [
      ['=', ';', ':', '"', '\\', '(', ')', '<', '>', '@', ' ', '-', '.', ',', '\t', '\0', '\xff', 'a', '5'],
      ['\r\n', '\n', '\r\n ', '--', '--==report==', '=3D', '=\r\n', '+41', '=?utf-8?B?'],
      ['Content-Type: ', 'boundary=', 'Action: failed\r\n', 'smtp; 550 ', 'a@b.c', '<a@b.c>:', 'user '],
    ].flat();
    const filling = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 }).map((some) =>
      some
        .join('')
        .repeat(size)
        .slice(0, size / 2),
    );
    const place = fc.constantFrom(
      'From: MAILER-DAEMON',
      '; boundary',
      'I am sorry',
      'Reporting-MTA',
      'Final-Recipient: rfc822; ',
      'Diagnostic-Code: smtp; ',
      'Status: ',
      'Subject: A subject',
      '--==report==--',
    );
    fc.assert(
      fc.property(filling, place, (text, where) => {
        expectQuick(Buffer.from(withPiece(where, `${where}${text}`), 'latin1').subarray(0, size));
      }),
      { numRuns: 150 },
    );
  });
});

test.each([
  [
    'parts side by side',
    withPiece('--==report==--', '--==report==\r\n\r\nx\r\n'.repeat(100)),
    /more than 100 parts/,
  ],
  ['parts within parts', nested(17), /more than 16 deep/],
  ['bytes of headers', `Subject: ${'x'.repeat(129 * kib)}`, /more than 128 KiB of headers/],
  ['fields', 'A: b\r\n'.repeat(1_001), /more than 1000 header fields/],
])('too many %s are refused with the limit', (_what, text, message) => {
  expect(() => readMail(Buffer.from(text, 'latin1'))).toThrow(message);
});

test.each([
  ['a delivery report', statusReport()],
  ['a complaint', feedbackReport({ fields: ['Original-Rcpt-To: <ada@example.com>'] })],
])('however %s is mangled, what is read of it is well-formed', (_which, raw) => {
  fc.assert(
    fc.property(mangled(raw), (bytes) => {
      const { report: found, deliveredTo, reportedMessageId } = readMail(bytes);
      for (const address of deliveredTo) expect(address).toMatch(/^[^\s<>]+@[^\s<>]+$/);
      if (reportedMessageId !== null) expect(reportedMessageId).not.toMatch(/[\s<>]/);
      if (found.kind === 'complaint') for (const address of found.recipients) expect(address).toContain('@');
      if (found.kind !== 'delivery') return;
      for (const { action, addresses, reply } of found.recipients) {
        expect(['failed', 'delayed', 'delivered', 'relayed', 'expanded']).toContain(action);
        for (const address of addresses) expect(address).toMatch(/^[^\s@]+@[^\s@]+$/);
        expect([2, 4, 5]).toContain(Math.floor(reply.code / 100));
        expect(reply.text.length).toBeLessThanOrEqual(1000);
        expect(reply.text).not.toMatch(/\p{Cc}/u);
        const { code } = verdictOf(reply);
        expect(code.length).toBeLessThanOrEqual(40);
      }
    }),
    { numRuns: 400 },
  );
});
