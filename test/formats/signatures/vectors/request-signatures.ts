import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Vectors = {
  createdAt: string;
  keyid: string;
  secret: string;
  publicKey: string;
  privateKey: string;
  vectors: {
    name: string;
    algorithm: 'hmac_sha256' | 'ecdsa_p256_sha256';
    method: string;
    url: string;
    headers: Record<string, string>;
    body: string;
    base: string[];
  }[];
};

/** Frozen signed requests: every signer for this service makes exactly these, except for the random part of ECDSA. */
export const frozen: Vectors = JSON.parse(
  readFileSync(join(import.meta.dirname, 'request-signatures.json'), 'utf8'),
);
