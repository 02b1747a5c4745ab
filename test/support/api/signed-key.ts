import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { now } from '../../../shared/common/clock.ts';
import { seal } from '../../../shared/common/secrets.ts';
import { insertApiKey } from '../../../shared/db/api-keys/api-keys.ts';
import { hashKey, newKey } from '../../../shared/domain/api-keys/api-keys.ts';
import { newId } from '../../../shared/formats/ids.ts';
import { scopes as allScopes, type Scope } from '../../../shared/schemas/scopes.ts';

type HmacSigner = { keyId: string; algorithm: 'hmac_sha256'; secret: string };
type EcdsaSigner = { keyId: string; algorithm: 'ecdsa_p256_sha256'; privateKey: KeyObject };

/** The key that a client signs with. */
export type Signer = HmacSigner | EcdsaSigner;
export type SignedKey = { key: string; signer: Signer };

type Settings = { strictMode?: boolean; scopes?: readonly Scope[] };
type Stored = Partial<Parameters<typeof insertApiKey>[1]>;

/** Makes an API key with a shared secret. `previous` is the secret before it, which is valid for some time more. */
export async function hmacKey(
  workspaceId: string,
  { previous, ...settings }: Settings & { previous?: { secret: string; until: Date } } = {},
): Promise<{ key: string; signer: HmacSigner }> {
  const keyId = newId('key', now());
  const secret = newSecret();
  const key = await insertKey(workspaceId, keyId, settings, {
    signingAlgorithm: 'hmac_sha256',
    signingSecret: seal(keyId, secret),
    previousSigningSecret: previous ? seal(keyId, previous.secret) : null,
    previousSigningSecretUntil: previous?.until ?? null,
  });
  return { key, signer: { keyId, algorithm: 'hmac_sha256', secret } };
}

/** Makes an API key with the public half of a P-256 pair. */
export async function ecdsaKey(
  workspaceId: string,
  settings: Settings = {},
): Promise<{ key: string; signer: EcdsaSigner; publicPem: string }> {
  const keyId = newId('key', now());
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  const key = await insertKey(workspaceId, keyId, settings, {
    signingAlgorithm: 'ecdsa_p256_sha256',
    publicKey: publicPem,
  });
  return { key, signer: { keyId, algorithm: 'ecdsa_p256_sha256', privateKey }, publicPem };
}

export function newSecret(): string {
  return `sig_${randomBytes(32).toString('base64url')}`;
}

async function insertKey(
  workspaceId: string,
  keyId: string,
  { strictMode = true, scopes = allScopes }: Settings,
  signing: Stored,
): Promise<string> {
  const key = newKey('api_key');
  const time = now();
  await insertApiKey(
    workspaceId,
    {
      id: keyId,
      workspaceId,
      lineageId: keyId,
      kind: 'api_key',
      name: null,
      keyPrefix: key.slice(0, 6),
      keyLast4: key.slice(-4),
      scopes: [...scopes],
      apiVersion: null,
      createdAt: time,
      activeFrom: time,
      expiresAt: null,
      rotatedAt: null,
      ownExpiresAt: null,
      strictMode,
      dailyParts: null,
      monthlyParts: null,
      signingAlgorithm: null,
      publicKey: null,
      signingSecret: null,
      previousSigningSecret: null,
      previousSigningSecretUntil: null,
      ...signing,
    },
    hashKey(key),
  );
  return key;
}
