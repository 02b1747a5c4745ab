import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { config } from '../config/config.ts';

type SecretKey = { id: string; encryption: KeyObject; authentication: KeyObject };
let keys: SecretKey[] | undefined;

function secretKeys(): SecretKey[] {
  if (!config.SECRET_KEY)
    throw new Error('SECRET_KEY is not set. Set it to the SECRET_KEY of the running platform');
  keys ??= config.SECRET_KEY.split(',').map((entry) => {
    const [id, hex] = entry.split(':') as [string, string];
    // Keeps the key objects: a key in bytes would be turned into an object at each use, which takes longer than the
    // encryption.
    const derive = (purpose: string) =>
      createSecretKey(Buffer.from(hkdfSync('sha256', Buffer.from(hex, 'hex'), '', purpose, 32)));
    return { id, encryption: derive('secrets at rest'), authentication: derive('tokens') };
  });
  return keys;
}

/**
 * AES-256-GCM for secrets at rest: `{key id}` `:` iv(12) tag(16) ciphertext. `owner` (an id) is authenticated
 * with it, so a value copied to another row does not open.
 */
export function seal(owner: string, secret: string): Buffer {
  const key = secretKeys()[0]!;
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key.encryption, iv, { authTagLength: 16 });
  cipher.setAAD(Buffer.from(owner));
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from(`${key.id}:`), iv, cipher.getAuthTag(), ciphertext]);
}

/** Opens what `seal` made, with any key of SECRET_KEY. Throws when owner, key or bytes do not match. */
export function open(owner: string, sealed: Buffer): string {
  const colon = sealed.indexOf(0x3a);
  const id = sealed.toString('latin1', 0, colon);
  const key = secretKeys().find((candidate) => candidate.id === id);
  if (!key) throw new Error(`SECRET_KEY has no key "${id}", which a stored secret needs`);
  const body = sealed.subarray(colon + 1);
  const decipher = createDecipheriv('aes-256-gcm', key.encryption, body.subarray(0, 12), {
    authTagLength: 16,
  });
  decipher.setAAD(Buffer.from(owner));
  decipher.setAuthTag(body.subarray(12, 28));
  return Buffer.concat([decipher.update(body.subarray(28)), decipher.final()]).toString('utf8');
}

/** The id of the key that `seal` uses now. */
export function sealingKeyId(): string {
  return secretKeys()[0]!.id;
}

/** The id of the key that a value was sealed with. */
export function keyIdOf(sealed: Buffer): string {
  return sealed.toString('latin1', 0, sealed.indexOf(0x3a));
}

/** Returns a MAC for data that leaves the platform and comes back, such as cursors. `purpose` keeps the uses apart. */
export function authenticationTag(purpose: string, text: string, lengthBytes = 16): Buffer {
  return mac(secretKeys()[0]!, purpose, text).subarray(0, lengthBytes);
}

/** Whether the tag was made by `authenticationTag`, with any key of SECRET_KEY. */
export function isAuthenticationTag(purpose: string, text: string, tag: Buffer): boolean {
  return secretKeys().some((key) => {
    const expected = mac(key, purpose, text).subarray(0, tag.length);
    return tag.length >= 16 && expected.length === tag.length && timingSafeEqual(expected, tag);
  });
}

/**
 * Whether both texts are the same. Takes the same time for any difference, so that the time reveals nothing about the
 * secret.
 */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', secret, 'buffer'));
}

function mac(key: SecretKey, purpose: string, text: string): Buffer {
  return createHmac('sha256', key.authentication).update(purpose).update('\0').update(text).digest();
}
