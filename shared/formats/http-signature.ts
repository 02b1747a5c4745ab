import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { contentDigest } from './content-digest.ts';

/** HTTP Message Signatures (RFC 9421). */

/** A covered component and its value, as RFC 9421 §2 derives or reads it. */
export type Component = readonly [name: string, value: string];

export type SignatureParameters = { created: number; expires?: number; keyid: string; alg?: 'hmac-sha256' };

/** The value of one label of Signature-Input: the covered names and the parameters (RFC 9421 §2.3). */
export function signatureParams(names: readonly string[], parameters: SignatureParameters): string {
  return paramsOf(quoted(names), parameters);
}

/** The bytes that are signed (RFC 9421 §2.5), as text: every component is ASCII. */
export function signatureBase(components: readonly Component[], params: string): string {
  let base = '';
  for (const [name, value] of components) base += `"${name}": ${value}\n`;
  return `${base}"@signature-params": ${params}`;
}

/** The value of one label of Signature (RFC 9421 §3.3.3). */
export function hmacSha256(base: string, key: KeyObject): string {
  return `:${createHmac('sha256', key).update(base).digest('base64')}:`;
}

/** Seconds from the making of a webhook's signature to its expiry. */
export const webhookSignatureSeconds = 300;

const webhookComponents = [
  '@method',
  '@authority',
  '@path',
  '@query',
  'content-digest',
  'content-type',
  'webhook-id',
] as const;
const webhookCovered = quoted(webhookComponents);

export type WebhookSignature = {
  /** `sig` is made with the current secret, `sig-prev` with the one before it. */
  label: 'sig' | 'sig-prev';
  /** The version of the secret, in decimal. */
  keyid: string;
  key: KeyObject;
};

export type WebhookRequest = {
  url: string | URL;
  body: string | Uint8Array;
  contentType: string;
  webhookId: string;
  createdAt: Date;
  signatures: readonly WebhookSignature[];
};

export type WebhookHeaders = {
  'content-digest': string;
  'content-type': string;
  'webhook-id': string;
  'signature-input': string;
  signature: string;
};

/** The key of a webhook's secret: the UTF-8 bytes of the whole `whsec_…` text. */
export function webhookKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret, 'utf8'));
}

/** The headers that carry and sign a delivery. The digest is computed once, whatever the number of labels. */
export function signWebhookRequest(request: WebhookRequest): WebhookHeaders {
  const url = typeof request.url === 'string' ? new URL(request.url) : request.url;
  const digest = contentDigest(request.body);
  const created = Math.floor(request.createdAt.getTime() / 1000);
  const components: Component[] = [
    ['@method', 'POST'],
    ['@authority', url.host],
    ['@path', url.pathname],
    // RFC 9421 §2.2.7: an absent query is the leading question mark alone.
    ['@query', url.search || '?'],
    ['content-digest', digest],
    ['content-type', request.contentType],
    ['webhook-id', request.webhookId],
  ];
  let input = '';
  let signature = '';
  for (const { label, keyid, key } of request.signatures) {
    const params = paramsOf(webhookCovered, {
      created,
      expires: created + webhookSignatureSeconds,
      keyid,
      alg: 'hmac-sha256',
    });
    const separator = input ? ', ' : '';
    input += `${separator}${label}=${params}`;
    signature += `${separator}${label}=${hmacSha256(signatureBase(components, params), key)}`;
  }
  return {
    'content-digest': digest,
    'content-type': request.contentType,
    'webhook-id': request.webhookId,
    'signature-input': input,
    signature,
  };
}

function quoted(names: readonly string[]): string {
  return `(${names.map((name) => `"${name}"`).join(' ')})`;
}

const plainText = /^[ !#-[\]-~]*$/;

function paramsOf(covered: string, { created, expires, keyid, alg }: SignatureParameters): string {
  // RFC 8941 §3.3.3: anything else would need escapes or has no form at all.
  if (!plainText.test(keyid)) throw new TypeError('keyid must be ASCII without quotes and backslashes');
  let params = `${covered};created=${created}`;
  if (expires !== undefined) params += `;expires=${expires}`;
  params += `;keyid="${keyid}"`;
  if (alg !== undefined) params += `;alg="${alg}"`;
  return params;
}
