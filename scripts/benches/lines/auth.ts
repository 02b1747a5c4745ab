import { plainEmail } from '../content.ts';
import type { Line } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Servant } from '../program.ts';
import { type Caller, notes, openAccept } from './accept.ts';

/** Keys of one customer, and what its requests carry. */
async function callers(loader: Servant): Promise<Caller[]> {
  const { key } = await loader.ask<Customer>('customer');
  const signed = async (algorithm: 'hmac-sha256' | 'ecdsa-p256-sha256') => {
    const made = await loader.ask<{ keyId: string; key: string; signingKey: string }>('signedKey', {
      algorithm,
    });
    return { key: made.key, signing: { keyId: made.keyId, algorithm, key: made.signingKey } };
  };
  const hmac = await signed('hmac-sha256');
  const ecdsa = await signed('ecdsa-p256-sha256');
  return [
    {
      name: 'platform',
      title: 'signed with hmac, and an Idempotency-Key: what strict mode demands',
      key: hmac.key,
      proof: { idempotent: true, signing: hmac.signing },
    },
    { name: 'key', title: 'the key alone', key },
    { name: 'idempotent', title: 'the key and an Idempotency-Key', key, proof: { idempotent: true } },
    {
      name: 'ecdsa',
      title: 'signed with ecdsa',
      key: ecdsa.key,
      proof: { idempotent: false, signing: ecdsa.signing },
    },
  ];
}

export const auth: Line = {
  name: 'auth',
  title: 'what signature and idempotency add to POST /v2/email',
  unit: 'requests',
  targets: { bare: 0.6 },
  notes,
  open: (bench) => openAccept(bench, { name: 'auth', email: plainEmail, callers }),
};
