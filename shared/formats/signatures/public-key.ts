import { createPublicKey, type KeyObject } from 'node:crypto';

// A P-256 key takes 178 characters; with its curve spelled out, under 500.
const longest = 2_000;
const block = /^\s*-----BEGIN PUBLIC KEY-----[ \t]*\r?\n([A-Za-z0-9+/=\s]+)\n-----END PUBLIC KEY-----\s*$/;
const form = 'must be one P-256 public key in PEM (-----BEGIN PUBLIC KEY-----)';

type ParsedPublicKey = { pem: string } | { fault: string };

/**
 * Parses a P-256 public key (SubjectPublicKeyInfo, RFC 5480) into one form for all copies of it, or tells the fault
 * of the text. node:crypto alone would also take a private key, other curves and text around the key.
 */
export function parsePublicKey(text: string): ParsedPublicKey {
  if (/PRIVATE KEY/i.test(text))
    return {
      fault:
        'must be a public key, but this is a private key; it was not stored: make a new key pair, and send only the public key',
    };
  const base64 = text.length <= longest ? block.exec(text)?.[1] : undefined;
  const key = base64 === undefined ? null : decoded(Buffer.from(base64, 'base64'));
  if (!key) return { fault: form };
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    return { fault: `${form}; this key is of another type` };
  // Rebuilt from the coordinates, because a compressed point or a curve that is spelled out would be exported as it
  // came.
  const plain = createPublicKey({ key: key.export({ format: 'jwk' }), format: 'jwk' });
  return { pem: plain.export({ type: 'spki', format: 'pem' }) as string };
}

function decoded(der: Buffer): KeyObject | null {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return null;
  }
}
