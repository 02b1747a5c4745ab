import { domainToASCII } from 'node:url';
import * as fc from 'fast-check';
import addressparser from 'nodemailer/lib/addressparser';
import { expect, test } from 'vitest';
import { compareKey, parseMailbox } from '../../../shared/formats/email/address.ts';

const recipient = (text: string) => parseMailbox(text, { allowDisplayName: false });
const sender = (text: string) => parseMailbox(text, { allowDisplayName: true });

test.each([
  ['ada@example.com', 'ada@example.com'],
  ["o'brien+tag@mail.example.co.uk", "o'brien+tag@mail.example.co.uk"],
  ['Ada.Lovelace@EXAMPLE.Com', 'Ada.Lovelace@example.com'],
  ['a@bücher.example', 'a@xn--bcher-kva.example'],
  ['a@XN--bcher-KVA.example', 'a@xn--bcher-kva.example'],
  ['a@例え.テスト', 'a@xn--r8jz45g.xn--zckzah'],
  ['!#$%&*+/=?^_`{|}~-@example.com', '!#$%&*+/=?^_`{|}~-@example.com'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
])('the recipient %s is the mailbox %s', (text, address) => {
  expect(recipient(text)).toMatchObject({ ok: true, mailbox: { address, displayName: null } });
});

// Shows A30
test.each([
  ['a list', 'b@ex.com, evil@x.com'],
  ['a list with semicolons', 'b@ex.com; evil@x.com'],
  ['a list without spaces', 'b@ex.com,evil@x.com'],
  ['a group', 'g: a@x.com, b@y.com;'],
  ['a name', 'Bob <b@ex.com>'],
  ['brackets', '<b@ex.com>'],
  ['an address as the name of another', 'b@ex.com <evil@x.com>'],
  ['CRLF and a header', 'b@ex.com\r\nBcc: evil@x.com'],
  ['a line feed', 'b@ex.com\n'],
  ['a carriage return', 'b@ex\r.com'],
  ['NUL', 'b@ex.com\0'],
  ['a tab', 'b\t@ex.com'],
  ['a line separator', 'b@ex.com\u2028evil@x.com'],
  ['a right-to-left override', 'b\u202e@ex.com'],
  ['a zero-width space', 'b@ex\u200b.com'],
  ['half of a surrogate pair', 'b@ex\ud83d.com'],
  ['a quoted local part', '"evil@x.com b"@ex.com'],
  ['a quoted local part with a space', '"b c"@ex.com'],
  ['a comment', 'b(comment)@ex.com'],
  ['a comment in the domain', 'b@(comment)ex.com'],
  ['a route', '<@relay.com:b@ex.com>'],
  ['two @', 'b@ex.com@evil.com'],
  ['no @', 'ex.com'],
  ['no local part', '@ex.com'],
  ['no domain', 'b@'],
  ['nothing', ''],
  ['a space in front', ' b@ex.com'],
  ['a space inside', 'b @ex.com'],
  ['a dot in front', '.b@ex.com'],
  ['a dot before the @', 'b.@ex.com'],
  ['two dots', 'b..c@ex.com'],
  ['a dot at the end', 'b@ex.com.'],
  ['two dots in the domain', 'b@ex..com'],
  ['one label', 'b@localhost'],
  ['an address literal', 'b@[127.0.0.1]'],
  ['an IP address', 'b@127.0.0.1'],
  ['an IP address in disguise', 'b@0x7f.1'],
  ['a hyphen in front of a label', 'b@-ex.com'],
  ['a hyphen at the end of a label', 'b@ex-.com'],
  ['an underscore in the domain', 'b@e_x.com'],
  ['an escape in the domain', 'b@ex%2ecom.org'],
  ['a slash in the domain', 'b@ex.com/x'],
  ['a letter that stands for a slash', 'b@ex.c℀m'],
  ['a local part that is not ASCII', 'jörg@ex.com'],
  ['a local part of 65 characters', `${'a'.repeat(65)}@ex.com`],
  ['a label of 64 characters', `b@${'a'.repeat(64)}.com`],
  ['255 characters', `${'a'.repeat(64)}@${'b.'.repeat(93)}com.de`.padEnd(255, 'x').slice(0, 255)],
  ['a thousand characters', `b@${'a.'.repeat(1000)}com`],
])('a recipient with %s is refused', (_what, text) => {
  expect(recipient(text)).toEqual({ ok: false, message: expect.stringMatching(/^(must|has|is) /) });
});

test('the reason for a local part that is not ASCII names SMTPUTF8', () => {
  expect(recipient('jörg@ex.com')).toMatchObject({ message: expect.stringContaining('SMTPUTF8') });
});

test('an address has at most 254 characters, counted in punycode', () => {
  const ofLength = (length: number) =>
    `${'l'.repeat(64)}@${`${'d'.repeat(60)}.`.repeat(3)}com`.padEnd(length, 'm');
  expect(recipient(ofLength(254))).toMatchObject({ ok: true });
  expect(recipient(ofLength(255))).toMatchObject({ ok: false });
  expect(
    recipient(`a@${'ü'.repeat(40)}.${'ü'.repeat(40)}.${'ü'.repeat(45)}.${'ü'.repeat(45)}.com`),
  ).toMatchObject({
    ok: true,
  });
  expect(recipient(`a@${'üé'.repeat(60)}.com`)).toMatchObject({ ok: false });
});

test.each([
  ['hello@acme.example', null],
  ['<hello@acme.example>', null],
  ['Acme <hello@acme.example>', 'Acme'],
  ['Acme<hello@acme.example>', 'Acme'],
  ['Dr. J. Smith <hello@acme.example>', 'Dr. J. Smith'],
  ['"Acme, Inc" <hello@acme.example>', 'Acme, Inc'],
  ['"Say \\"hi\\" \\\\o/" <hello@acme.example>', 'Say "hi" \\o/'],
  ['Zoë 👩‍💻 日本 <hello@acme.example>', 'Zoë 👩‍💻 日本'],
  ['"" <hello@acme.example>', null],
  // A name may look like a domain (Booking.com is one), but the address is the one that was verified.
  ['"paypal.com" <hello@acme.example>', 'paypal.com'],
  ['=?utf-8?q?ceo=40paypal=2Ecom?= <hello@acme.example>', '=?utf-8?q?ceo=40paypal=2Ecom?='],
])('the sender %s has the name %s', (text, displayName) => {
  expect(sender(text)).toEqual({
    ok: true,
    mailbox: { address: 'hello@acme.example', local: 'hello', domain: 'acme.example', displayName },
  });
});

// Shows A31
test.each([
  ['two addresses', 'a@own.com, b@own.com'],
  ['two named addresses', 'A <a@own.com>, B <b@own.com>'],
  ['two addresses in brackets', '<a@own.com><b@own.com>'],
  ['an address in its name', 'ceo@paypal.com <a@own.com>'],
  ['an address in its quoted name', '"ceo@paypal.com" <a@own.com>'],
  ['a full-width @ in its name', 'ceo＠paypal.com <a@own.com>'],
  ['an unquoted comma', 'Acme, Inc <a@own.com>'],
  ['a comment', 'Acme (x) <a@own.com>'],
  ['a group', 'Acme: <a@own.com>;'],
  ['an open quote', '"Acme <a@own.com>'],
  ['a second From', 'A <a@own.com>\r\nFrom: evil@x.com'],
  ['text after the address', 'A <a@own.com> B'],
  ['a right-to-left override in its name', 'moc.\u202elapyap <a@own.com>'],
  ['spaces in the brackets', 'A < a@own.com >'],
])('a sender with %s is refused', (_what, text) => {
  expect(sender(text)).toMatchObject({ ok: false });
});

// Shows A30
test('what is accepted is exactly one mailbox for another parser too', () => {
  const pieces = fc.oneof(
    fc.constantFrom(...'@.,;:<>"\\()[]=\'-_ \t'.split('')),
    fc.constantFrom(
      'a',
      'b.c',
      'Z',
      '\r\n',
      'ex.com',
      'evil@x.com',
      'é',
      'ü.example',
      '\u202e',
      '👋',
      'Bcc:',
    ),
  );
  const anything = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));
  const local = fc.stringMatching(/^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]{1,20}(\.[a-z0-9]{1,10}){0,2}$/);
  const domain = fc.stringMatching(/^([a-zA-Z0-9äß日本][a-z0-9-]{0,8}[a-z0-9ü]\.){1,3}[a-z]{2,6}$/);
  const address = fc.tuple(local, domain).map(([name, host]) => `${name}@${host}`);
  const name = fc.string({ unit: 'grapheme', maxLength: 20 });
  const quoted = name.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`);
  const named = fc.tuple(fc.oneof(name, quoted), address).map(([before, one]) => `${before} <${one}>`);
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(anything, address, named), fc.boolean(), (text, allowDisplayName) => {
      const parsed = parseMailbox(text, { allowDisplayName });
      if (!parsed.ok) return;
      accepted += 1;
      const { mailbox } = parsed;
      const others = addressparser(text);
      expect(others).toHaveLength(1);
      const [theirLocal, theirDomain = ''] = (others[0]?.address ?? '').split('@');
      expect(`${theirLocal}@${domainToASCII(theirDomain)}`).toBe(mailbox.address);
      expect(addressparser(mailbox.address)).toEqual([{ name: '', address: mailbox.address }]);
      expect(mailbox.address).toMatch(/^[\x21-\x7e]+@[a-z0-9.-]+$/);
      if (!allowDisplayName) expect(mailbox.displayName).toBeNull();
    }),
    { numRuns: 5000 },
  );
  expect(accepted).toBeGreaterThan(500);
});

test('addresses of one mailbox compare equal whatever their case', () => {
  const key = (text: string) => {
    const parsed = recipient(text);
    return parsed.ok && compareKey(parsed.mailbox.address);
  };
  expect(key('Ada@BÜCHER.example')).toBe(key('aDA@xn--bcher-kva.EXAMPLE'));
  expect(key('ada+1@example.com')).not.toBe(key('ada@example.com'));
});
