import { generateKeyPairSync } from 'node:crypto';
import type { Client } from '../../support/api/start-api.ts';

/** The operations on keys, as the holder of `key` calls them. */
export function keysOf(api: Client, key: string) {
  const call = (method: string, path: string, body?: unknown) =>
    api.request(method, `/v2/api-keys${path}`, { key, ...(body !== undefined && { body }) });
  return {
    call,
    create: (body: object = {}) => call('POST', '', body),
    list: () => call('GET', ''),
    read: (id: string) => call('GET', `/${id}`),
    change: (id: string, body: object) => call('PATCH', `/${id}`, body),
    remove: (id: string) => call('DELETE', `/${id}`),
    rotate: (id: string, body?: object) => call('POST', `/${id}/rotate`, body),
    rotateSecret: (id: string) => call('POST', `/${id}/rotate-signing-secret`),
  };
}

export const hmac = { algorithm: 'hmac_sha256' };

export function newPublicKey(): string {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return publicKey.export({ type: 'spki', format: 'pem' }) as string;
}

export const ecdsa = (publicKey = newPublicKey()) => ({ algorithm: 'ecdsa_p256_sha256', publicKey });

/** Fields that a client cannot set, even if it sends them. */
export const notForClients = {
  id: 'key_01h455vb4pex5vsknk084sn02q',
  workspaceId: 'workspace_01h455vb4pex5vsknk084sn02q',
  lineageId: 'key_01h455vb4pex5vsknk084sn02q',
  kind: 'app',
  hash: '0'.repeat(64),
  keyPrefix: 'abcdef',
  keyLast4: 'wxyz',
  createdAt: '2020-01-01T00:00:00.000Z',
  lastUsedAt: '2020-01-01T00:00:00.000Z',
  key: `msg_${'x'.repeat(40)}`,
  signingSecret: `sig_${'x'.repeat(43)}`,
  previousSigningSecret: `sig_${'x'.repeat(43)}`,
  usedToday: 7,
};
