import { generateKeyPairSync } from 'node:crypto';
import type { Cast } from '../cast.ts';
import { plainEmail } from '../content.ts';
import { setUp } from '../customer.ts';
import type { Line } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Servant } from '../program.ts';
import { type Caller, notes, openAccept } from './accept.ts';

/** Keys of one customer, and what its requests carry. */
async function callers(loader: Servant, cast: Cast): Promise<Caller[]> {
  const { key } = await loader.ask<Customer>('customer');
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const [hmac, ecdsa] = await setUp(cast, key, async (api) => [
    await api.post('/v2/api-keys', { body: { signing: { algorithm: 'hmac_sha256' } } }),
    await api.post('/v2/api-keys', { body: { signing: { algorithm: 'ecdsa_p256_sha256', publicKey } } }),
  ]);
  return [
    {
      name: 'platform',
      title: 'signed with hmac, and an Idempotency-Key: what strict mode demands',
      key: hmac.key!,
      proof: {
        idempotent: true,
        signing: { keyId: hmac.id, algorithm: 'hmac-sha256', key: hmac.signingSecret! },
      },
    },
    { name: 'key', title: 'the key alone', key },
    { name: 'idempotent', title: 'the key and an Idempotency-Key', key, proof: { idempotent: true } },
    {
      name: 'ecdsa',
      title: 'signed with ecdsa',
      key: ecdsa.key!,
      proof: {
        idempotent: false,
        signing: { keyId: ecdsa.id, algorithm: 'ecdsa-p256-sha256', key: privateKey },
      },
    },
  ];
}

export const auth: Line = {
  name: 'auth',
  title: 'time that signature and idempotency add to POST /v2/email',
  unit: 'requests',
  targets: { bare: 0.6 },
  notes,
  open: (bench) => openAccept(bench, { name: 'auth', email: plainEmail, callers }),
};
