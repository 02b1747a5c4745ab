import { type Grammar, many, maybe, oddNumber, oneOf, sequence, word } from '../grammar.ts';

const end = '\r\n';
const boundary = oneOf('b1', 'b2', '==report==', 'a b', "'()+_,-./:=?");
const domain = oneOf(
  'example.com',
  'Example.ORG',
  'xn--bcher-kva.example',
  'bücher.example',
  '[127.0.0.1]',
  'a',
);
const local = oneOf('ada', 'bounce+token', '"a b"', 'a.b', 'fbl', word);
export const address = sequence(local, '@', domain);
const mailbox = oneOf(
  address,
  sequence('<', address, '>'),
  sequence('"', word, '" <', address, '>'),
  sequence('=?utf-8?', oneOf('B', 'Q', 'x'), '?', oneOf('QWRh', '=41', word), '?= <', address, '>'),
  sequence('Group: ', address, ', ', address, ';'),
  sequence(address, ' (comment (in a comment))'),
);
const messageId = sequence('<', word, '@', domain, '>');
const date = oneOf('Mon, 23 Nov 2026 10:00:00 +0000', 'now', '31 Feb 2026 25:61:61 +9999', '');
const encoding = oneOf('7bit', '8bit', 'base64', 'quoted-printable', 'binary', 'x-gzip', 'BASE64 (comment)');
const plainType = sequence(
  oneOf('text/plain', 'text/html', 'application/octet-stream', 'text/rfc822-headers', 'TEXT/Plain', 'text'),
  maybe(sequence('; charset=', oneOf('utf-8', 'us-ascii', 'iso-8859-1', '"utf-16"', 'x-none'))),
  maybe(sequence('; name*0="a"; name*1*=utf-8\'\'', word)),
);

const signature = sequence(
  'DKIM-Signature: v=1; a=rsa-sha256; c=',
  oneOf('relaxed/relaxed', 'simple/simple', 'relaxed', 'x/y'),
  '; d=',
  domain,
  '; s=',
  oneOf('s1', 'a.b', '..', word),
  maybe(sequence('; l=', oddNumber)),
  maybe(sequence('; t=', oddNumber, '; x=', oddNumber)),
  '; h=',
  many(oneOf('From', 'To', 'Subject', 'from', 'Date', ''), 0, 8, ':'),
  '; bh=',
  oneOf('47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=', word),
  ';\r\n b=',
  oneOf('AAAA', 'x'.repeat(340), word),
  end,
);
const field: Grammar = oneOf(
  sequence('From: ', mailbox, end),
  sequence('To: ', many(mailbox, 0, 4, ', '), end),
  sequence('Subject: ', many(word, 1, 4, '\r\n '), end),
  sequence('Date: ', date, end),
  sequence('Message-ID: ', messageId, end),
  sequence('Delivered-To: ', address, end),
  sequence('X-Original-To: ', address, end),
  sequence(word, ': ', word, end),
  sequence('Received: from ', domain, ' by ', domain, '; ', date, end),
  signature,
);
const headers = many(field, 1, 8);

const encodedBody = oneOf(
  many(oneOf(word, 'A text that goes on', '=3D=0A', '=\r\n', 'SGVsbG8=', '.', '..', 'From here'), 1, 8, end),
  sequence('SGVsbG8gd29ybGQ', many('QUJD', 0, 30)),
);
/** The text that qmail writes in place of a report. */
const qmail = sequence(
  'Hi. This is the qmail-send program at ',
  domain,
  '.\r\n\r\n<',
  address,
  '>:\r\n',
  many(sequence(word, end), 1, 3),
  '\r\n--- Below this line is a copy of the message.\r\n',
);
const leaf: Grammar = sequence(
  'Content-Type: ',
  plainType,
  end,
  maybe(sequence('Content-Transfer-Encoding: ', encoding, end)),
  end,
  oneOf(encodedBody, encodedBody, qmail),
);

const multipart = (type: Grammar, parts: readonly Grammar[]): Grammar => {
  return (random) => {
    const line = boundary(random);
    const open = `Content-Type: ${type(random)}; boundary="${line}"\r\n\r\n`;
    const all = parts.map((part) => `--${line}\r\n${part(random)}\r\n`).join('');
    return `${open}${all}${random() < 0.9 ? `--${line}--\r\n` : ''}`;
  };
};

const reply = sequence(
  oneOf('smtp; ', 'x-unix; ', 'SMTP;', ''),
  oneOf('550', '421', '999', oddNumber),
  oneOf(' ', '-', ''),
  oneOf('5.1.1', '4.2.2', '5.7.26', '9.9.9', oddNumber),
  ' ',
  oneOf('No such mailbox', 'mailbox full', 'user unknown', 'blocked by spamhaus', word),
);
const perRecipient = sequence(
  maybe(sequence('Original-Recipient: rfc822;', address, end)),
  'Final-Recipient: ',
  oneOf('rfc822', 'utf-8', 'RFC822', 'x400'),
  ';',
  address,
  '\r\nAction: ',
  oneOf('failed', 'delayed', 'delivered', 'relayed', 'expanded', word),
  '\r\nStatus: ',
  oneOf('5.1.1', '4.0.0', '2.0.0', oddNumber),
  end,
  maybe(sequence('Diagnostic-Code: ', many(reply, 1, 3, '\r\n '), end)),
  maybe(sequence('Remote-MTA: dns; ', domain, end)),
);
const perMessage = sequence(
  'Reporting-MTA: dns; ',
  domain,
  end,
  maybe(sequence('Arrival-Date: ', date, end)),
);
const status = sequence(
  'Content-Type: message/',
  oneOf('delivery-status', 'global-delivery-status'),
  '\r\n\r\n',
  perMessage,
  end,
  many(perRecipient, 0, 4, end),
);
const original = sequence(
  'Content-Type: ',
  oneOf('message/rfc822', 'text/rfc822-headers', 'message/global-headers'),
  '\r\n\r\n',
  headers,
  maybe(sequence(end, encodedBody)),
);
const feedback = sequence(
  'Content-Type: message/feedback-report\r\n\r\nFeedback-Type: ',
  oneOf('abuse', 'fraud', 'not-spam', 'virus', word),
  '\r\nUser-Agent: Loop/1.0\r\nVersion: ',
  oneOf('1', '0.1', oddNumber),
  end,
  many(
    sequence(oneOf('Original-Rcpt-To: ', 'Original-Mail-From: ', 'Reported-Domain: '), address, end),
    0,
    3,
  ),
);

const mime: Grammar = sequence(headers, 'MIME-Version: 1.0\r\n');
const report = (type: string, part: Grammar): Grammar =>
  sequence(
    mime,
    multipart(oneOf(`multipart/report; report-type=${type}`, 'multipart/report'), [leaf, part, original]),
  );
const nested: Grammar = oneOf(leaf, multipart(oneOf('multipart/mixed'), [leaf, leaf]));

/** A delivery status notification (RFC 3464). */
export const statusReport = report('delivery-status', status);
/** A complaint (RFC 5965). */
export const feedbackReport = report('feedback-report', feedback);
/** Mail of every kind that a stranger may send, reports among it. */
export const mail: Grammar = oneOf(
  statusReport,
  statusReport,
  feedbackReport,
  sequence(mime, leaf),
  sequence(headers, end, qmail),
  sequence(
    mime,
    multipart(oneOf('multipart/mixed', 'multipart/alternative', 'multipart/digest'), [
      leaf,
      nested,
      original,
    ]),
  ),
  sequence(
    mime,
    multipart(oneOf('multipart/mixed'), [multipart(oneOf('multipart/report'), [nested, status])]),
  ),
);
/** The replies of a mail server. */
export const smtpReply = many(reply, 1, 4, '\n');
