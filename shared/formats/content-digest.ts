import { hash, timingSafeEqual } from 'node:crypto';
import { parseDictionary } from 'structured-headers';

/** The Content-Digest field of these bytes (RFC 9530), with sha-256. */
export function contentDigest(bytes: string | Uint8Array): string {
  return `sha-256=:${hash('sha256', bytes, 'base64')}:`;
}

// RFC 9530 §5: md5, sha, unixsum and the like are insecure, so they prove nothing here.
const recognised = [
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
] as const;

/** Whether every digest that this service recognises is the one of these bytes, and there is at least one. */
export function verifyContentDigest(header: string, bytes: string | Uint8Array): boolean {
  const members = parsed(header);
  if (!members) return false;
  const claims = recognised.filter(([name]) => members.has(name));
  return (
    claims.length > 0 && claims.every(([name, algorithm]) => matches(members.get(name), algorithm, bytes))
  );
}

function parsed(header: string) {
  try {
    return parseDictionary(header);
  } catch {
    return undefined;
  }
}

function matches(member: unknown, algorithm: string, bytes: string | Uint8Array): boolean {
  const claim: unknown = Array.isArray(member) ? member[0] : undefined;
  if (!(claim instanceof ArrayBuffer)) return false;
  const digest = hash(algorithm, bytes, 'buffer');
  return claim.byteLength === digest.byteLength && timingSafeEqual(new Uint8Array(claim), digest);
}
