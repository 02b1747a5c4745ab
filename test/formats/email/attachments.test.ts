import { createPrivateKey, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { dkimVerify } from 'mailauth';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { generateDkimKey, signParts } from '../../../shared/formats/email/dkim.ts';
import { typeOfFile } from '../../../shared/formats/email/mime-message/attachment.ts';
import {
  type Attachment,
  cleanFilename,
  composeWithAttachments,
  streamOf,
} from '../../../shared/formats/email/mime-message.ts';

const email = {
  messageId: 'email_1@acme.example',
  date: new Date('2026-11-20T10:00:00Z'),
  from: { address: 'hello@acme.example', displayName: null },
  to: 'ada@example.com',
  subject: 'A subject',
  html: '<p>Hello</p>',
  text: 'Hello',
  headers: {},
};

function attachmentOf(filename: string, bytes: Buffer, pieceBytes = 57 * 3): Attachment {
  return {
    filename,
    sizeBytes: bytes.length,
    open: async function* () {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
    },
  };
}

async function wholeOf(message: ReturnType<typeof streamOf>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of message.open()) pieces.push(piece);
  const whole = Buffer.concat(pieces);
  expect(whole.length).toBe(message.sizeBytes);
  return whole;
}

const compose = (attachments: Attachment[], changes = {}) =>
  wholeOf(streamOf(composeWithAttachments({ ...email, ...changes }, attachments)));

test('a receiver reads both texts and every attachment, byte for byte and in order', async () => {
  const files = [0, 1, 56, 57, 58, 171, 5_000].map((length) => randomBytes(length));
  const raw = await compose(files.map((bytes, index) => attachmentOf(`file ${index}.pdf`, bytes)));
  const parsed = await PostalMime.parse(raw);
  expect([parsed.html?.trim(), parsed.text?.trim()]).toEqual(['<p>Hello</p>', 'Hello']);
  expect(
    parsed.attachments.map(({ filename, mimeType, disposition, content }) => [
      filename,
      mimeType,
      disposition,
      Buffer.from(content as ArrayBuffer),
    ]),
  ).toEqual(files.map((bytes, index) => [`file ${index}.pdf`, 'application/pdf', 'attachment', bytes]));
  expect(
    raw
      .toString('latin1')
      .split('\r\n')
      .every((line) => line.length <= 998 && /^[\t\x20-\x7e]*$/.test(line)),
  ).toBe(true);
});

test.each([
  ['text alone', { html: null }],
  ['html alone', { text: null }],
  ['neither', { html: null, text: null }],
])('attachments go with %s', async (_name, changes) => {
  const parsed = await PostalMime.parse(await compose([attachmentOf('a.txt', Buffer.from('A'))], changes));
  const content = { ...email, ...changes };
  expect(parsed.html?.trim()).toBe(content.html ?? undefined);
  expect(parsed.text?.trim() ?? '').toBe(content.text ?? '');
  expect(parsed.attachments).toHaveLength(1);
});

test('each time it is opened the message has the same bytes', async () => {
  const message = streamOf(composeWithAttachments(email, [attachmentOf('a.pdf', randomBytes(1_000))]));
  expect(await wholeOf(message)).toEqual(await wholeOf(message));
});

// Shows A32
test('any file name arrives as it is', async () => {
  const names = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 120 })
    .map(cleanFilename)
    .filter(Boolean);
  await fc.assert(
    fc.asyncProperty(names, async (name) => {
      const raw = await compose([attachmentOf(name, Buffer.from('A'))]);
      const { attachments } = await PostalMime.parse(raw);
      expect(attachments.map(({ filename }) => filename)).toEqual([name]);
    }),
    { numRuns: 200 },
  );
});

// Shows A32
test.each([
  ['Übersicht für März – 50 %.pdf', 'Übersicht für März – 50 %.pdf'],
  ['请款单.pdf', '请款单.pdf'],
  ['e\u0301t\u00e9.pdf', '\u00e9t\u00e9.pdf'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\ada\\report.pdf', 'report.pdf'],
  ['invoice\u202Efdp.exe', 'invoicefdp.exe'],
  ['a\u2066b\u200Fc.txt', 'abc.txt'],
  ['a\r\nBcc: x@y.example\r\n.pdf', 'aBcc: x@y.example.pdf'],
  ['tab\there\u0000.txt', 'tabhere.txt'],
  ['  spaces  ', 'spaces'],
  ['.htaccess', '.htaccess'],
  ['quote".pdf', 'quote".pdf'],
  ["it's; filename=other.exe", "it's; filename=other.exe"],
  ['%41.pdf', '%41.pdf'],
  [`${'long '.repeat(40)}.pdf`, `${'long '.repeat(40)}.pdf`],
])('the file name %j arrives as %j', async (given, arriving) => {
  expect(cleanFilename(given)).toBe(arriving);
  const { attachments, headers } = await PostalMime.parse(
    await compose([attachmentOf(cleanFilename(given), Buffer.from('A'))]),
  );
  expect(attachments.map(({ filename }) => filename)).toEqual([arriving]);
  expect(headers.map(({ key }) => key)).not.toContain('bcc');
});

// Shows A32
test.each(['', '/', 'folder/', '..', '.', '\u202e', ' \u0001 '])('%j is no file name', (given) => {
  expect(cleanFilename(given)).toBe('');
});

// Shows A33
test.each([
  ['a.pdf', 'application/pdf'],
  ['A.PDF', 'application/pdf'],
  ['a.pdf.exe', typeOfFile('b.exe')],
  ['a.html', 'text/html'],
  ['a.eml', 'application/octet-stream'],
  ['pdf', 'application/octet-stream'],
  ['a.', 'application/octet-stream'],
  ['.pdf', typeOfFile('.pdf')],
  ['a.unheard-of', 'application/octet-stream'],
])('%s is sent as %s', (name, type) => {
  expect(typeOfFile(name)).toBe(type);
});

test('a message with attachments is signed so that a receiver verifies it, and none of it is missing', async () => {
  const pair = generateDkimKey();
  const signer = {
    domain: 'acme.example',
    selector: 's1',
    privateKey: createPrivateKey(pair.privateKeyPem),
    signedAt: email.date,
  };
  const resultOf = async (raw: Buffer) => {
    const { results } = await dkimVerify(raw, {
      curTime: email.date,
      resolver: async () => [[pair.publicKeyTxt]],
    });
    return results.map(({ status }) => status.result);
  };
  const texts = ['Hello', 'Hello \t \r\n\r\n\r\n', ''];
  const sizes = [[0], [1], [57], [58, 0], [0, 0, 171], [4_000, 3]];
  for (const text of texts)
    for (const lengths of sizes) {
      const attachments = lengths.map((length, index) => attachmentOf(`${index}.bin`, randomBytes(length)));
      const parts = await signParts(composeWithAttachments({ ...email, text }, attachments), signer);
      const raw = await wholeOf(streamOf(parts));
      expect(await resultOf(raw)).toEqual(['pass']);
      const changed = Buffer.from(raw);
      const at = raw.indexOf('0.bin"\r\n\r\n') + '0.bin"\r\n\r\n'.length;
      changed[at] = changed[at] === 0x41 ? 0x42 : 0x41;
      expect(await resultOf(changed)).not.toEqual(['pass']);
    }
});
