import * as fc from 'fast-check';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { composeMessage, type OutgoingEmail } from '../../../shared/formats/email/mime-message.ts';

const email: OutgoingEmail = {
  messageId: 'email_01kae2x0hzf7s8t3jzc1y2v4w6@acme.example',
  date: new Date('2026-11-20T10:00:00.999Z'),
  from: { address: 'hello@acme.example', displayName: 'Acme' },
  to: 'ada@example.com',
  subject: 'Your order',
  html: '<p>Thanks, Zoë</p>',
  text: 'Thanks, Zoë',
  headers: {},
};

const compose = async (changes: Partial<OutgoingEmail> = {}) =>
  (await composeMessage({ ...email, ...changes })).toString('latin1');
/**
 * Reads the message as a mail program does. postal-mime keeps the line end before the boundary as part of the text,
 * unless the text is base64, so line ends at the very end are left out on both sides.
 */
async function read(changes: Partial<OutgoingEmail>) {
  const parsed = await PostalMime.parse(await composeMessage({ ...email, ...changes }));
  return { ...parsed, html: withoutEndingLines(parsed.html), text: withoutEndingLines(parsed.text) };
}
const withoutEndingLines = (text = '') => text.replace(/[\r\n]*$/, '').replace(/\r*\n/g, '\n');

const headerOf = (message: string, name: string) =>
  new RegExp(`^${name}: ((?:.|\\r\\n[ \\t])*)\\r\\n`, 'm').exec(
    message.slice(0, message.indexOf('\r\n\r\n') + 2),
  )?.[1];

/** Checks RFC 5322 §2.1.1 and §2.3 (lines of at most 998 characters that end in CRLF), and that all is ASCII. */
function expectWellFormed(message: string): void {
  expect(message).not.toMatch(/[^\t\r\n\x20-\x7e]/);
  expect(message.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  expect(message.endsWith('\r\n')).toBe(true);
  expect(Math.max(...message.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
}

test('an email with html and text is multipart/alternative, text first', async () => {
  const message = await compose();
  expectWellFormed(message);
  expect(headerOf(message, 'From')).toBe('Acme\r\n <hello@acme.example>');
  expect(headerOf(message, 'To')).toBe('ada@example.com');
  expect(headerOf(message, 'Subject')).toBe('Your order');
  expect(headerOf(message, 'Message-ID')).toBe('<email_01kae2x0hzf7s8t3jzc1y2v4w6@acme.example>');
  expect(headerOf(message, 'Date')).toBe('Fri, 20 Nov 2026 10:00:00 +0000');
  expect(headerOf(message, 'MIME-Version')).toBe('1.0');
  expect(headerOf(message, 'Content-Type')).toMatch(/^multipart\/alternative;\r\n boundary="[^"]{10,70}"$/);
  expect(message.indexOf('Content-Type: text/plain; charset=utf-8')).toBeLessThan(
    message.indexOf('Content-Type: text/html; charset=utf-8'),
  );
  expect(await read({})).toMatchObject({
    from: { name: 'Acme', address: 'hello@acme.example' },
    to: [{ name: '', address: 'ada@example.com' }],
    subject: 'Your order',
    messageId: '<email_01kae2x0hzf7s8t3jzc1y2v4w6@acme.example>',
    date: '2026-11-20T10:00:00.000Z',
    html: '<p>Thanks, Zoë</p>',
    text: 'Thanks, Zoë',
    attachments: [],
  });
});

test.each([
  ['text only', { html: null }, 'text/plain; charset=utf-8'],
  ['html only', { text: null }, 'text/html; charset=utf-8'],
  ['neither', { html: null, text: null }, 'text/plain; charset=utf-8'],
])('an email with %s has one part', async (_what, changes, type) => {
  const message = await compose(changes);
  expectWellFormed(message);
  expect(headerOf(message, 'Content-Type')).toBe(type);
  expect(message).not.toContain('multipart');
});

test('the same email gives the same bytes every time, and another Message-ID another boundary', async () => {
  const boundary = async (changes: Partial<OutgoingEmail>) =>
    headerOf(await compose(changes), 'Content-Type');
  const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => compose()));
  for (const other of others) expect(other).toBe(first);
  expect(await boundary({})).not.toBe(await boundary({ messageId: 'another@acme.example' }));
});

// A byte order mark at the start is not part of a text, and readers remove it.
const unicode = fc.string({ unit: 'binary', maxLength: 300 }).map((text) => text.replace(/^\ufeff+/, ''));
const words = fc
  .array(
    fc.constantFrom(
      'a',
      'word',
      ' ',
      '  ',
      'Zoë',
      '日本',
      '👩‍💻',
      '=?utf-8?Q?x?=',
      '"',
      '=',
      'x'.repeat(200),
      '.',
    ),
    {
      maxLength: 40,
    },
  )
  .map((parts) => parts.join(''));
const lines = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\r\n',
        '\n',
        '\r',
        '.',
        '..',
        ' ',
        '\t',
        'From ',
        '--',
        '=',
        'é',
        '日',
        '\u2028',
        '\0',
      ),
      fc.constantFrom('x'.repeat(75), 'x'.repeat(997), 'y'.repeat(1200), '日'.repeat(100), '<p style="a">'),
      fc.string({ maxLength: 20 }),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));
const bodies = fc.oneof(lines, unicode);
const withoutControls = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]/gu, '');

test('any subject and name arrive as they are', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(words, unicode), fc.oneof(words, unicode), async (subject, name) => {
      const changes = {
        subject: withoutControls(subject),
        from: { address: 'hello@acme.example', displayName: withoutControls(name) },
      };
      expectWellFormed(await compose(changes));
      const parsed = await read(changes);
      expect(parsed.subject ?? '').toBe(changes.subject);
      expect(parsed.from?.address).toBe('hello@acme.example');
      // A quoted or encoded name may have spaces at its ends; parsers remove them.
      expect(parsed.from?.name?.trim()).toBe(changes.from.displayName.trim());
    }),
    { numRuns: 500 },
  );
});

test.each(['.'.repeat(992), `"${'a b'.repeat(400)}"`, `\\${'"'.repeat(600)}`])(
  'a name too long for a line arrives as it is: number %$',
  async (displayName) => {
    const changes = { from: { address: 'a@b.example', displayName } };
    expectWellFormed(await compose(changes));
    expect((await read(changes)).from?.name).toBe(displayName);
  },
);

test('any html and text arrive as they are', async () => {
  await fc.assert(
    fc.asyncProperty(bodies, bodies, async (html, text) => {
      expectWellFormed(await compose({ html, text }));
      const sent = { html: withoutEndingLines(html), text: withoutEndingLines(text) };
      expect(await read({ html, text })).toMatchObject(sent);
      expect(await read({ html: null, text })).toMatchObject({ text: sent.text });
      expect(await read({ html, text: null })).toMatchObject({ html: sent.html });
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['short ASCII lines', 'Hello\n.\n', '7bit'],
  ['a little beyond ASCII', 'Thanks, Zoë', 'quoted-printable'],
  ['mostly beyond ASCII', '日本語のメール', 'base64'],
  ['a long line', 'x'.repeat(2000), 'quoted-printable'],
  ['spaces at a line end', 'a \nb', 'quoted-printable'],
  ['a line that mailbox files change', 'a\nFrom me', 'quoted-printable'],
  ['a line like a boundary', 'a\n--x', 'quoted-printable'],
])('%s travel in the encoding that keeps them', async (_what, text, encoding) => {
  expect(headerOf(await compose({ html: null, text }), 'Content-Transfer-Encoding')).toBe(encoding);
});

test('no line of an encoded body starts with `From `', async () => {
  const message = await compose({
    html: null,
    text: `${'é'.repeat(3)}From a\nFrom b\n${'x'.repeat(74)}From c`,
  });
  expect(message.split('\r\n').filter((line) => line.startsWith('From '))).toEqual([]);
});

test('a body that knows its boundary cannot end its part', async () => {
  const boundary = /boundary="([^"]+)"/.exec(await compose())?.[1] ?? '';
  expect(boundary).not.toBe('');
  const text = `before\n--${boundary}--\nafter`;
  expect((await read({ text })).text).toBe(text);
});

// Shows A29
test('control characters in a subject or name become spaces, never a header', async () => {
  const evil = 'Hi\r\nBcc: evil@x.example\nX-A: 1\rX-B: 2\0\t\u2028end';
  const message = await compose({
    subject: evil,
    from: { address: 'hello@acme.example', displayName: evil },
  });
  expectWellFormed(message);
  expect(message.split('\r\n\r\n')[0]).not.toMatch(/^(Bcc|X-A|X-B)/m);
  const parsed = await read({ subject: evil });
  expect(parsed.subject).toBe('Hi Bcc: evil@x.example X-A: 1 X-B: 2   end');
  expect(parsed.bcc).toBeUndefined();
});

test('half of a surrogate pair is replaced, and nothing else', async () => {
  const parsed = await read({ subject: 'a\ud83d b 👋', text: 'c\udc4b d 👋' });
  expect(parsed).toMatchObject({ subject: 'a\ufffd b 👋', text: 'c\ufffd d 👋' });
});

test('further headers are there once, encoded where they must be', async () => {
  const headers = {
    'List-Unsubscribe': `<https://acme.example/u/${'x'.repeat(200)}>, <mailto:u@acme.example>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'X-Greeting': 'Zoë',
  };
  const message = await compose({ headers });
  expectWellFormed(message);
  const unfolded = message.replaceAll('\r\n ', ' ');
  expect(unfolded).toContain(`\r\nList-Unsubscribe: ${headers['List-Unsubscribe']}\r\n`);
  expect(headerOf(message, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click');
  expect(headerOf(message, 'X-Greeting')).toBe('=?UTF-8?Q?Zo=C3=AB?=');
});

test.each([
  ['a recipient with a line end', { to: 'ada@example.com\r\nBcc: evil@x.example' }],
  ['two recipients', { to: 'ada@example.com,evil@x.example' }],
  [
    'a sender that ends its brackets',
    { from: { address: 'a@b.example> <evil@x.example', displayName: null } },
  ],
  ['a Message-ID with a line end', { messageId: 'a@b\r\nX: y' }],
  ['a header name with a line end', { headers: { 'X\r\nBcc': 'evil@x.example' } }],
  ['a header of our own', { headers: { from: 'evil@x.example' } }],
  ['a hidden recipient', { headers: { BCC: 'evil@x.example' } }],
])('%s is a mistake of ours and refused', async (_what, changes) => {
  await expect(compose(changes)).rejects.toThrow(TypeError);
});
