import { type Grammar, many, maybe, oddNumber, oneOf, sequence, word } from '../grammar.ts';

/** Formats of a line or a few: prices as CSV, fields of HTTP and of DNS, and what customers type. */

const quoted: Grammar = (random) => `"${word(random).replaceAll('"', '""')}"`;
const cell = oneOf(
  'GB',
  'FR',
  '0.0345',
  '1000',
  '',
  '2026-12-01',
  '2026-02-31',
  word,
  oddNumber,
  quoted,
  '"open',
);
const row = oneOf(sequence('GB,0.0', oneOf('1', '345', oddNumber), ',,2026-12-01'), many(cell, 1, 6, ','));
export const csv: Grammar = (random) => {
  const end = oneOf('\r\n', '\n', '\r')(random);
  const header = oneOf(
    'country,gbp,eur,validFrom',
    'validFrom,eur,gbp,country',
    sequence('\ufeff', 'country,gbp'),
    row,
  );
  return `${header(random)}${end}${many(row, 0, 12, end)(random)}${end}`;
};

const component = oneOf(
  '"@method"',
  '"@authority"',
  '"@path"',
  '"@query"',
  '"content-digest"',
  '"content-type"',
  '"@status"',
  '"x";sf',
  '"x";key="a"',
  'token',
  oddNumber,
);
const parameter = sequence(
  ';',
  oneOf('created', 'expires', 'keyid', 'alg', 'nonce', 'tag', '*x'),
  maybe(
    sequence(
      '=',
      oneOf(
        '1',
        '1763892000',
        '"fuzz"',
        '"hmac-sha256"',
        ':AAAA:',
        '?1',
        '@1',
        oddNumber,
        sequence('"', word, '"'),
      ),
    ),
  ),
);
const covered = '("@method" "@authority" "@path" "@query" "content-digest" "content-type")';
const inner = sequence(oneOf(covered, sequence('(', many(component, 0, 8, ' '), ')')), many(parameter, 0, 5));
const member = sequence(
  oneOf('sig1', 'sig2', 'a', '*', 'Sig'),
  '=',
  oneOf(inner, inner, oddNumber, sequence('"', word, '"')),
);
const bytes = oneOf(':AAAA:', ':AA==:', ':A:', '::', sequence(':', 'A'.repeat(43), '=:'), '"x"', word);
/** Two lines: Signature-Input, and Signature. */
export const signature: Grammar = sequence(
  many(member, 1, 4, ', '),
  '\n',
  many(sequence(oneOf('sig1', 'sig2', 'a'), '=', bytes), 1, 4, ', '),
);
export const digest = many(
  sequence(oneOf('sha-256', 'sha-512', 'md5', 'SHA-256'), '=', bytes, many(parameter, 0, 2)),
  0,
  4,
  ', ',
);

const label = oneOf('a', 'example', 'xn--bcher-kva', 'bücher', '-', '_dmarc', 'x'.repeat(64), '127', word);
export const host = oneOf(
  many(label, 1, 5, '.'),
  '127.0.0.1',
  '0x7f.1',
  '2130706433',
  '[::ffff:127.0.0.1]',
  '[fe80::1%25lo]',
  '１２７.0.0.1',
  '[::]',
);
export const url: Grammar = sequence(
  oneOf('https', 'http', 'HTTP', 'ftp', 'javascript', ''),
  oneOf('://', ':', ':\\\\', '//'),
  maybe(sequence(word, '@'), 0.2),
  host,
  maybe(sequence(':', oneOf('80', '25', '0', oddNumber))),
  maybe(sequence('/', word)),
  maybe(sequence('?', word)),
);
export const phone: Grammar = sequence(
  oneOf('+', '00', '', '+44', '＋'),
  many(oneOf('7', '0', '44', '900', ' ', '(', ')', '-', ';ext=', '٣', word), 1, 12),
);
export const mailboxText: Grammar = oneOf(
  sequence(word, '@', host),
  sequence('"', word, '" <', word, '@', host, '>'),
  sequence(word, ' <ada@', host, '>'),
);
export const name: Grammar = many(word, 1, 3, ' ');
export const money: Grammar = sequence(
  maybe('-'),
  oneOf('1', '0345', oddNumber),
  maybe(sequence('.', oneOf('5', '12345', oddNumber))),
);
export const pem: Grammar = sequence(
  '-----BEGIN ',
  oneOf('PUBLIC', 'PUBLIC', 'EC PRIVATE', 'RSA PUBLIC'),
  ' KEY-----\n',
  many(oneOf('MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE', 'AAAA', '=', word), 0, 6, '\n'),
  '\n-----END PUBLIC KEY-----\n',
);
/** Lines of TXT records. */
export const dns: Grammar = many(
  oneOf(
    sequence(
      'v=DKIM1; k=',
      oneOf('rsa', 'ed25519', word),
      '; p=',
      oneOf('MIGf', '', word),
      maybe(sequence('; t=', word)),
    ),
    sequence(
      'v=spf1 ',
      many(oneOf('include:spf.example', 'redirect=a.example', 'a', '-all', '~all', word), 0, 12, ' '),
    ),
    sequence('v=DMARC1; p=', oneOf('none', 'reject', word), '; rua=mailto:', word),
    word,
  ),
  0,
  5,
  '\n',
);
export const sms: Grammar = many(oneOf(word, 'The quick brown fox ', '€[]{}~\\^|', '👍', '‘quoted’'), 1, 40);
export const base64: Grammar = many(oneOf('QUJD', 'QQ==', '=', '\r\n', '-_', word), 0, 40);
