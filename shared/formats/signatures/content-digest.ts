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

export type DigestOf = (algorithm: string) => Buffer | Promise<Buffer>;

/** Tells whether there is a digest that this service recognises, and every such digest is that of these bytes. */
export function verifyContentDigest(header: string, bytes: string | Uint8Array): boolean {
  const claims = claimsOf(header);
  return (
    claims.length > 0 &&
    claims.every(({ algorithm, claim }) => matches(claim, hash(algorithm, bytes, 'buffer')))
  );
}

/** Verifies the field against digests that the caller computes. */
export async function verifyDigests(header: string, digestOf: DigestOf): Promise<boolean> {
  const claims = claimsOf(header);
  for (const { algorithm, claim } of claims) if (!matches(claim, await digestOf(algorithm))) return false;
  return claims.length > 0;
}

function claimsOf(header: string): { algorithm: string; claim: unknown }[] {
  const members = parsed(header);
  return recognised
    .filter(([name]) => members?.has(name))
    .map(([name, algorithm]) => ({ algorithm, claim: members!.get(name) }));
}

function parsed(header: string) {
  try {
    return parseDictionary(header);
  } catch {
    return undefined;
  }
}

function matches(member: unknown, digest: Buffer): boolean {
  const claim: unknown = Array.isArray(member) ? member[0] : undefined;
  return (
    claim instanceof ArrayBuffer &&
    claim.byteLength === digest.byteLength &&
    timingSafeEqual(new Uint8Array(claim), digest)
  );
}
