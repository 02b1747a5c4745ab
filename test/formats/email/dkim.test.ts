import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import * as fc from 'fast-check';
import { type DKIMResult, dkimVerify } from 'mailauth';
import { beforeAll, expect, test } from 'vitest';
import { generateDkimKey, signMessage } from '../../../shared/formats/email/dkim.ts';

const domain = 'acme.example';
const selector = 's1';
const signedAt = new Date('2026-11-20T10:00:00Z');
let privateKey: KeyObject;
let record: string;

beforeAll(() => {
  const pair = generateDkimKey();
  privateKey = createPrivateKey(pair.privateKeyPem);
  record = pair.publicKeyTxt;
});

const headers = [
  'From: =?UTF-8?Q?Zo=C3=AB?= <hello@acme.example>',
  'To: ada@example.com',
  'Subject: A  subject\r\n with   a fold',
  'Message-ID: <1@acme.example>',
  'Date: Fri, 20 Nov 2026 10:00:00 +0000',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  'List-Unsubscribe: <https://acme.example/u/1>',
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
  'X-Other: not signed',
];
const messageOf = (body: string, lines = headers) =>
  Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
const sign = (message: Buffer) => signMessage(message, { domain, selector, privateKey, signedAt });

/** Verifies with mailauth, another implementation; its resolver plays the DNS that holds our TXT record. */
async function verify(message: Buffer) {
  const { results } = await dkimVerify(message, {
    resolver: async (name: string, type: string) => {
      expect([name, type]).toEqual([`${selector}._domainkey.${domain}`, 'TXT']);
      return [record.match(/.{1,255}/g) ?? []];
    },
    strict: true,
    curTime: new Date('2026-11-20T11:00:00Z'),
  });
  expect(results).toHaveLength(1);
  return results[0] as DKIMResult;
}

test('a signed message verifies', async () => {
  const signed = await sign(messageOf('Hello\r\n'));
  const result = await verify(signed);
  expect(result).toMatchObject({ signingDomain: domain, selector, status: { result: 'pass' } });
  expect(signed.toString()).toContain(' t=1795168800;');
});

test.each([
  ['an empty body', ''],
  ['a body of empty lines', '\r\n\r\n\r\n'],
  ['a body without a line end', 'Hello'],
  ['empty lines at the end', 'Hello\r\n\r\n\r\n'],
  ['spaces everywhere', ' a  b\t\tc \r\n  \r\n\t d   '],
  ['only spaces', '   '],
  ['dots at line starts', '.\r\n..\r\n.x\r\n'],
  ['bytes beyond ASCII', 'caf\xe9\r\n'],
])('a message with %s verifies', async (_what, body) => {
  expect((await verify(await sign(messageOf(body)))).status).toMatchObject({ result: 'pass' });
});

test('any body verifies', async () => {
  const piece = fc.constantFrom('\r\n', ' ', '\t', '  ', 'word', '.', '=', 'x'.repeat(80), '\r', '\n');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const body = pieces.join('').replace(/\r(?!\n)|(?<!\r)\n/g, '');
      expect((await verify(await sign(messageOf(body)))).status.result).toBe('pass');
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['the body', 'Hello', 'Hallo'],
  ['the subject', 'A  subject', 'Another subject'],
  ['the sender', 'hello@acme.example>', 'evil@acme.example>'],
  ['the recipient', 'To: ada@', 'To: eve@'],
  ['the date', '10:00:00', '10:00:01'],
  ['the Message-ID', '<1@acme', '<2@acme'],
  ['the content type', 'text/plain', 'text/html'],
  ['the unsubscribe address', '/u/1>', '/u/2>'],
  ['the unsubscribe method', 'One-Click', 'Two-Click'],
])('a change of %s breaks the signature', async (_what, before, after) => {
  const signed = (await sign(messageOf('Hello\r\n'))).toString('latin1');
  expect(signed).toContain(before);
  const changed = Buffer.from(signed.replace(before, after), 'latin1');
  expect((await verify(changed)).status.result).not.toBe('pass');
});

test('what a relay may do to a message leaves the signature good', async () => {
  const signed = (await sign(messageOf('Hello  world \r\n'))).toString('latin1');
  const relayed = `Received: from a by b\r\n${signed}`
    .replace('Subject: A  subject', 'SUBJECT:   A subject')
    .replace('X-Other: not signed', 'X-Other: changed')
    .replace('Hello  world ', 'Hello world');
  expect((await verify(Buffer.from(`${relayed}\r\n\r\n`, 'latin1'))).status.result).toBe('pass');
});

/** Headers that a mail program would show or obey in place of the genuine header of the same name. */
const forgeries: [name: string, value: string][] = [
  ['From', 'evil@x.example'],
  ['Reply-To', 'evil@x.example'],
  ['To', 'eve@example.com'],
  ['Cc', 'eve@example.com'],
  ['Subject', 'Pay at once'],
  ['Date', 'Fri, 27 Nov 2026 10:00:00 +0000'],
  ['Message-ID', '<2@x.example>'],
  ['In-Reply-To', '<2@x.example>'],
  ['References', '<2@x.example>'],
  ['MIME-Version', '1.0'],
  ['Content-Type', 'text/html'],
  ['Content-Transfer-Encoding', 'base64'],
  ['List-Id', '<list.x.example>'],
  ['List-Unsubscribe', '<https://x.example/>'],
  ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
];

const withoutHeader = (name: string) => headers.filter((line) => !line.startsWith(`${name}: `));

// Shows A31
test.each(forgeries)('a %s that is added breaks the signature, wherever it is put', async (name, value) => {
  for (const lines of [headers, withoutHeader(name)]) {
    // A message without a From cannot be signed.
    if (name === 'From' && lines !== headers) continue;
    const signed = (await sign(messageOf('Hello\r\n', lines))).toString('latin1');
    expect((await verify(Buffer.from(signed, 'latin1'))).status.result).toBe('pass');
    for (const forged of [
      `${name}: ${value}\r\n${signed}`,
      `${name.toUpperCase()} : ${value}\r\n${signed}`,
      signed.replace('\r\nX-Other: ', `\r\n${name}: ${value}\r\nX-Other: `),
      signed.replace('\r\n\r\n', `\r\n${name}: ${value}\r\n\r\n`),
    ]) {
      expect(forged).not.toBe(signed);
      expect((await verify(Buffer.from(forged, 'latin1'))).status.result).not.toBe('pass');
    }
  }
});

test('one that occurs twice when it is signed is signed twice, and a third breaks the signature', async () => {
  const twice = messageOf('Hello\r\n', [...headers, 'Subject: Another']);
  const signed = (await sign(twice)).toString('latin1');
  expect((await verify(Buffer.from(signed, 'latin1'))).status.result).toBe('pass');
  for (const forged of [
    `Subject: A third\r\n${signed}`,
    signed.replace('Subject: Another', 'Subject: Changed'),
    signed.replace('Subject: A  subject', 'Subject: Changed'),
  ])
    expect((await verify(Buffer.from(forged, 'latin1'))).status.result).not.toBe('pass');
});

test('the signature of another key does not verify', async () => {
  const signed = await sign(messageOf('Hello\r\n'));
  record = generateDkimKey().publicKeyTxt;
  expect((await verify(signed)).status.result).not.toBe('pass');
  record = `v=DKIM1; k=rsa; p=${createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64')}`;
});

test('each header is named once more than it occurs, also where that is never', async () => {
  const signed = await sign(messageOf('Hello\r\n', headers.slice(0, 7)));
  expect(signed.toString().replaceAll('\r\n ', '')).toContain(
    [
      'h=from:from:reply-to:to:to:cc:subject:subject:date:date:message-id:message-id:in-reply-to:references:',
      'mime-version:mime-version:content-type:content-type:content-transfer-encoding:list-id:list-unsubscribe:',
      'list-unsubscribe-post;',
    ].join(''),
  );
  expect((await verify(signed)).status.result).toBe('pass');
});

test('the same message is signed with the same bytes every time', async () => {
  const message = messageOf('Hello\r\n');
  const [first, ...others] = await Promise.all([sign(message), sign(message), sign(Buffer.from(message))]);
  for (const other of others) expect(other.equals(first)).toBe(true);
  expect(first.subarray(-message.length).equals(message)).toBe(true);
});

test('no line of the signature is longer than 78 characters', async () => {
  const signature = (await sign(messageOf('Hello\r\n'))).toString('latin1').split('\r\nFrom: ')[0] ?? '';
  for (const line of signature.split('\r\n')) expect(line.length).toBeLessThanOrEqual(78);
});

test('a domain that could end its tag, and a message without headers, are refused', async () => {
  const signer = { domain, selector, privateKey, signedAt };
  await expect(signMessage(messageOf('x'), { ...signer, domain: 'a.example; x=1' })).rejects.toThrow(
    TypeError,
  );
  await expect(signMessage(messageOf('x'), { ...signer, selector: 's\r\nX: y' })).rejects.toThrow(TypeError);
  await expect(signMessage(Buffer.from('no headers'), signer)).rejects.toThrow(TypeError);
});

test('a new key has 2048 bits and its TXT record is its public half', () => {
  const { privateKeyPem, publicKeyTxt } = generateDkimKey();
  const key = createPrivateKey(privateKeyPem);
  expect(key.asymmetricKeyDetails?.modulusLength).toBe(2048);
  const published = Buffer.from(/^v=DKIM1; k=rsa; p=([\w+/=]+)$/.exec(publicKeyTxt)?.[1] ?? '', 'base64');
  expect(createPublicKey({ key: published, type: 'spki', format: 'der' }).equals(createPublicKey(key))).toBe(
    true,
  );
});
