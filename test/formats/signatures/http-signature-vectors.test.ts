import { createHmac, createPublicKey, createSecretKey, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import * as signatures from '../../../shared/formats/signatures/http-signature.ts';
import { frozen } from './vectors/request-signatures.ts';

const bytes = (base64: string) => Buffer.from(base64, 'base64');
const altered = (signature: Uint8Array, at: number) =>
  Uint8Array.from(signature, (byte, index) => (index === at ? byte ^ 1 : byte));

describe('the ECDSA example of RFC 9421 B.2.4', () => {
  const key = createPublicKey(`-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lf
w0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
-----END PUBLIC KEY-----
`);
  const [input] = signatures.parseSignatureInput(
    'sig-b24=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256"',
    1,
  )!;
  const [signature] = signatures.parseSignature(
    'sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==:',
    1,
  )!;
  const values: Record<string, string> = {
    '@status': '200',
    'content-type': 'application/json',
    'content-digest':
      'sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:',
    'content-length': '23',
  };
  const baseOf = (with_: Record<string, string>) =>
    signatures.signatureBase(
      input!.names!.map((name) => [name, with_[name]!] as const),
      input!.text,
    );

  test('verifies', () => {
    expect(signature!.label).toBe(input!.label);
    expect(signatures.isEcdsaP256Sha256(signature!.value!, baseOf(values), key)).toBe(true);
  });

  test('verifies no more when a value or a byte of it is another', () => {
    for (const name of Object.keys(values)) {
      const base = baseOf({ ...values, [name]: `${values[name]} ` });
      expect(signatures.isEcdsaP256Sha256(signature!.value!, base, key), name).toBe(false);
    }
    for (let at = 0; at < 64; at += 1)
      expect(signatures.isEcdsaP256Sha256(altered(signature!.value!, at), baseOf(values), key)).toBe(false);
  });
});

describe('the HMAC example of RFC 9421 B.2.5', () => {
  const key = createSecretKey(
    'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==',
    'base64',
  );
  const base = [
    '"date": Tue, 20 Apr 2021 02:07:55 GMT',
    '"@authority": example.com',
    '"content-type": application/json',
    '"@signature-params": ("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
  ].join('\n');
  const signature = bytes('pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=');

  test('verifies', () => {
    expect(signatures.isHmacSha256(signature, base, key)).toBe(true);
  });

  test('verifies no more when a character or a byte of it is another', () => {
    for (let at = 0; at < base.length; at += 1) {
      const other = base.slice(0, at) + String.fromCharCode(base.charCodeAt(at) ^ 1) + base.slice(at + 1);
      expect(signatures.isHmacSha256(signature, other, key), other).toBe(false);
    }
    for (let at = 0; at < 32; at += 1)
      expect(signatures.isHmacSha256(altered(signature, at), base, key)).toBe(false);
    for (const length of [0, 1, 31])
      expect(signatures.isHmacSha256(signature.subarray(0, length), base, key)).toBe(false);
    expect(signatures.isHmacSha256(Buffer.concat([signature, Buffer.of(0)]), base, key)).toBe(false);
  });
});

describe.each(frozen.vectors)('the frozen request: $name', ({ algorithm, headers, base, method }) => {
  const [input] = signatures.parseSignatureInput(headers['signature-input']!, 1)!;
  const [signature] = signatures.parseSignature(headers['signature']!, 1)!;
  const text = base.join('\n');

  test('is read as it was written', () => {
    expect(input!.params).toBe(input!.text);
    expect(input!.parameters.get('keyid')).toBe(frozen.keyid);
    const components = base
      .slice(0, -1)
      .map((line) => /^"(.*?)": (.*)$/.exec(line)!.slice(1) as [string, string]);
    expect(components[0]).toEqual(['@method', method]);
    expect(input!.names).toEqual(components.map(([name]) => name));
    expect(signatures.signatureBase(components, input!.text)).toBe(text);
  });

  // Shows A10
  test('verifies, and only with its own algorithm', () => {
    const secret = createSecretKey(Buffer.from(frozen.secret));
    const publicKey = createPublicKey(frozen.publicKey);
    const isHmac = algorithm === 'hmac_sha256';
    expect(signatures.isHmacSha256(signature!.value!, text, secret)).toBe(isHmac);
    expect(signatures.isEcdsaP256Sha256(signature!.value!, text, publicKey)).toBe(!isHmac);
    expect(signatures.isEcdsaP256Sha256(signature!.value!, `${text} `, publicKey)).toBe(false);
  });

  test('is made again by node:crypto', () => {
    if (algorithm === 'hmac_sha256')
      expect(createHmac('sha256', frozen.secret).update(text).digest()).toEqual(
        Buffer.from(signature!.value!),
      );
    else {
      const again = sign('sha256', Buffer.from(text), { key: frozen.privateKey, dsaEncoding: 'ieee-p1363' });
      expect(signatures.isEcdsaP256Sha256(again, text, createPublicKey(frozen.publicKey))).toBe(true);
    }
  });
});
