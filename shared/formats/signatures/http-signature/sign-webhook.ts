import { createSecretKey, type KeyObject } from 'node:crypto';
import { contentDigest } from '../content-digest.ts';
import { hmacSha256 } from './algorithms.ts';
import { componentsOf, paramsOf, quoted, signatureBase } from './make-base.ts';

/** Seconds from the making of a webhook's signature to its expiry. */
export const webhookSignatureSeconds = 300;

/** The names are the same in all webhooks, so their text is made once. */
let webhookCovered: string | undefined;

export type WebhookSignature = {
  /** `sig` is made with the current secret, `sig-prev` with the one before it. */
  label: 'sig' | 'sig-prev';
  /** The version of the secret, in decimal. */
  keyid: string;
  key: KeyObject;
};

export type WebhookRequest = {
  url: Readonly<URL>;
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
  const digest = contentDigest(request.body);
  const created = Math.floor(request.createdAt.getTime() / 1000);
  const components = componentsOf('POST', request.url, digest, request.contentType);
  components.push(['webhook-id', request.webhookId]);
  webhookCovered ??= quoted(components.map(([name]) => name));
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
