import {
  createHmac,
  createPrivateKey,
  createSecretKey,
  hash,
  type KeyObject,
  sign as signWith,
} from 'node:crypto';

/** The proof that a request carries beside its key: a key for the retry, a signature, or both. */
export interface Proof {
  idempotent: boolean;
  signing?: {
    keyId: string;
    authority: string;
    algorithm: 'hmac-sha256' | 'ecdsa-p256-sha256';
    /** The secret, or the private key as PEM. */
    key: string;
  };
}

/**
 * Returns a function for the headers of each of these bodies, made anew for each request (RFC 9421, API decisions
 * §3).
 */
export function prover({ idempotent, signing }: Proof, path: string, bodies: readonly string[]) {
  const digests = bodies.map((body) => `sha-256=:${hash('sha256', body, 'base64')}:`);
  const signer = signing && signerOf(signing);
  const run = Math.random().toString(36).slice(2);
  let count = 0;

  return (body: number): string => {
    count += 1;
    const key = idempotent ? `${run}-${count}` : undefined;
    const idempotency = key === undefined ? '' : `Idempotency-Key: ${key}\r\n`;
    if (!signing || !signer) return idempotency;
    const components = [
      ['@method', 'POST'],
      ['@authority', signing.authority],
      ['@path', path],
      ['@query', '?'],
      ['content-digest', digests[body]],
      ['content-type', 'application/json'],
      ...(key === undefined ? [] : [['idempotency-key', key]]),
    ];
    const covered = components.map(([name]) => `"${name}"`).join(' ');
    const params = `(${covered});created=${Math.floor(Date.now() / 1000)};keyid="${signing.keyId}"`;
    const lines = components.map(([name, value]) => `"${name}": ${value}\n`).join('');
    const signature = signer(`${lines}"@signature-params": ${params}`);
    return `${idempotency}Content-Digest: ${digests[body]}\r\nSignature-Input: sig=${params}\r\nSignature: sig=:${signature}:\r\n`;
  };
}

function signerOf({ algorithm, key }: NonNullable<Proof['signing']>): (base: string) => string {
  if (algorithm === 'hmac-sha256') {
    const secret: KeyObject = createSecretKey(Buffer.from(key));
    return (base) => createHmac('sha256', secret).update(base).digest('base64');
  }
  const privateKey = createPrivateKey(key);
  return (base) =>
    signWith('sha256', Buffer.from(base), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64');
}
