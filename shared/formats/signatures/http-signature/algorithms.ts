import { createHmac, type KeyObject, timingSafeEqual, verify } from 'node:crypto';

/** The value of one label of Signature (RFC 9421 §3.3.3). */
export function hmacSha256(base: string, key: KeyObject): string {
  return `:${createHmac('sha256', key).update(base).digest('base64')}:`;
}

export function isHmacSha256(signature: Uint8Array, base: string, key: KeyObject): boolean {
  const expected = createHmac('sha256', key).update(base).digest();
  return signature.byteLength === expected.byteLength && timingSafeEqual(signature, expected);
}

// r and s, 32 bytes each (RFC 9421 §3.3.4). The DER form has another length, or does not verify.
const ecdsaBytes = 64;

export function isEcdsaP256Sha256(signature: Uint8Array, base: string, publicKey: KeyObject): boolean {
  return (
    signature.byteLength === ecdsaBytes &&
    verify('sha256', Buffer.from(base), { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)
  );
}
