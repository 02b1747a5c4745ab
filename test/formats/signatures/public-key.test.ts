import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePublicKey } from '../../../shared/formats/signatures/public-key.ts';

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }) as string;
const pem = pemOf(pair.publicKey);
const der = pair.publicKey.export({ type: 'spki', format: 'der' });

const asPem = (bytes: Buffer, label = 'PUBLIC KEY') =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;

// Made with openssl ec -pubout -conv_form compressed, and with -param_enc explicit, from the key of plainForm.
const plainForm = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEc1M5Tuswp1JuLNNgGyOMzJjxOTVT
Zq1qMNqelJsu4t61BBjKeaDpAAfPhQjaC0jl0g+zoZqrFE6WnRxSzJKzQg==
-----END PUBLIC KEY-----
`;
const compressedForm = `-----BEGIN PUBLIC KEY-----
MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgACc1M5Tuswp1JuLNNgGyOMzJjxOTVT
Zq1qMNqelJsu4t4=
-----END PUBLIC KEY-----
`;
const explicitForm = `-----BEGIN PUBLIC KEY-----
MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAA
AAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA////
///////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSd
NgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5
RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA
//////////+85vqtpxeehPO5ysL8YyVRAgEBA0IABHNTOU7rMKdSbizTYBsjjMyY
8Tk1U2atajDanpSbLuLetQQYynmg6QAHz4UI2gtI5dIPs6GaqxROlp0cUsySs0I=
-----END PUBLIC KEY-----
`;

test('a P-256 key is taken, and comes back as node:crypto writes it', () => {
  expect(parsePublicKey(pem)).toEqual({ pem });
  expect(createPublicKey(pem).equals(pair.publicKey)).toBe(true);
});

test.each([
  ['lines that end in CR LF', pem.replaceAll('\n', '\r\n')],
  ['no line end at the end', pem.trimEnd()],
  ['blank lines and spaces around it', `\n  \n${pem}\n\t\n`],
  [
    'the base64 on one line',
    `-----BEGIN PUBLIC KEY-----\n${der.toString('base64')}\n-----END PUBLIC KEY-----`,
  ],
])('%s: the same key in the same form', (_what, text) => {
  expect(parsePublicKey(text)).toEqual({ pem });
});

test('a compressed point or a curve that is spelled out is the same key in the plain form', () => {
  for (const text of [plainForm, compressedForm, explicitForm])
    expect(parsePublicKey(text)).toEqual({ pem: plainForm });
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const others = {
  RSA: rsa.publicKey,
  'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey,
  'P-521': generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey,
  secp256k1: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey,
  Ed25519: generateKeyPairSync('ed25519').publicKey,
  X25519: generateKeyPairSync('x25519').publicKey,
};
// Shows A11
test.each(Object.entries(others))('a key of another kind is refused: %s', (_kind, key) => {
  expect(parsePublicKey(pemOf(key))).toEqual({ fault: expect.stringContaining('P-256') });
});

const { privateKey } = pair;
const passphrase = { cipher: 'aes-256-cbc', passphrase: 'x' } as const;
test.each([
  ['PKCS #8', privateKey.export({ type: 'pkcs8', format: 'pem' })],
  ['SEC 1', privateKey.export({ type: 'sec1', format: 'pem' })],
  ['encrypted', privateKey.export({ type: 'pkcs8', format: 'pem', ...passphrase })],
  ['RSA', rsa.privateKey.export({ type: 'pkcs1', format: 'pem' })],
  ['after the public one', pem + String(privateKey.export({ type: 'pkcs8', format: 'pem' }))],
  ['in lower case and on one line', '-----begin private key----- abc -----end private key-----'],
  ['very long', `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(100_000)}\n-----END PRIVATE KEY-----`],
])('a private key is told as such, and nothing of it is in the answer: %s', (_kind, text) => {
  const parsed = parsePublicKey(text as string);
  expect(parsed).toEqual({ fault: expect.stringContaining('private key') });
  for (const line of (text as string).split('\n').filter((part) => part.length >= 40))
    expect(JSON.stringify(parsed)).not.toContain(line.slice(0, 40));
});

const swapped = Buffer.from(der);
swapped[swapped.length - 1]! ^= 1;
// Shows A11
test.each([
  ['nothing', ''],
  ['any text', 'a key'],
  ['no begin and end', der.toString('base64')],
  ['two keys', pem + pem],
  ['text before it', `my key:\n${pem}`],
  ['text after it', `${pem}that was it`],
  ['headers inside', pem.replace('KEY-----\n', 'KEY-----\nProc-Type: 4\n\n')],
  ['one line', pem.replaceAll('\n', ' ')],
  ['escaped line ends', pem.replaceAll('\n', '\\n')],
  ['a certificate', asPem(der, 'CERTIFICATE')],
  ['another label', asPem(der, 'EC PUBLIC KEY')],
  ['a JWK', JSON.stringify(pair.publicKey.export({ format: 'jwk' }))],
  ['a private key under this label', asPem(privateKey.export({ type: 'pkcs8', format: 'der' }))],
  ['PKCS #1 under this label', asPem(rsa.publicKey.export({ type: 'pkcs1', format: 'der' }))],
  ['a bare point', asPem(der.subarray(-65))],
  ['a point that is not on the curve', asPem(swapped)],
  ['cut short', asPem(der.subarray(0, -1))],
  ['an empty block', '-----BEGIN PUBLIC KEY-----\n\n-----END PUBLIC KEY-----'],
  ['spaces without end', `${' '.repeat(1_000_000)}${pem}`],
  ['base64 without end', asPem(Buffer.alloc(1_000_000))],
])('what is not exactly one public key in PEM is refused: %s', (_what, text) => {
  expect(parsePublicKey(text)).toEqual({ fault: expect.stringContaining('PEM') });
});

test('whatever is sent is refused or is a P-256 key, and never throws', () => {
  const bytes = fc.uint8Array({ maxLength: 100 }).map((given) => asPem(Buffer.from(given)));
  const changed = fc.tuple(fc.nat(pem.length - 1), fc.string({ maxLength: 3 })).map(([at, text]) => {
    return pem.slice(0, at) + text + pem.slice(at + 1);
  });
  fc.assert(
    fc.property(fc.oneof(fc.string(), bytes, changed), (text) => {
      const parsed = parsePublicKey(text);
      if ('fault' in parsed) return;
      expect(createPublicKey(parsed.pem).asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
      expect(parsePublicKey(parsed.pem)).toEqual(parsed);
    }),
    { numRuns: 500 },
  );
});
