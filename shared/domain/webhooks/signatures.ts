import { createHmac, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { parsedUrl } from '../../common/parsed-url.ts';
import { open } from '../../common/secrets.ts';
import type { WebhookRecord } from '../../db/webhooks/webhooks.ts';
import {
  signWebhookRequest,
  type WebhookSignature,
  webhookKey,
} from '../../formats/signatures/http-signature.ts';

/** The fields of a webhook that its signatures need. */
type SigningWebhook = Pick<
  WebhookRecord,
  'id' | 'url' | 'apiVersion' | 'secretVersion' | 'secret' | 'previousSecret' | 'previousSecretUntil'
>;

type SignedMessage = { body: Buffer; deliveryId: string; at: Date };

const contentType = 'application/json';

/** Returns the headers that describe and sign a delivery's body. Each attempt is signed anew (API decisions §6). */
export function signedHeaders(
  webhook: SigningWebhook,
  { body, deliveryId, at }: SignedMessage,
): Record<string, string> {
  if (webhook.apiVersion === null)
    return {
      'content-type': contentType,
      'webhook-id': deliveryId,
      ...legacySignature(keyOf(webhook.id, webhook.secretVersion, webhook.secret), body, at),
    };
  return signWebhookRequest({
    url: parsedUrl(webhook.url),
    body,
    contentType,
    webhookId: deliveryId,
    createdAt: at,
    signatures: signaturesOf(webhook, at),
  });
}

/** Returns the signatures: for some time after a rotation, the previous secret signs too (API decisions §6). */
function signaturesOf(webhook: SigningWebhook, at: Date): WebhookSignature[] {
  const { id, secretVersion, secret, previousSecret, previousSecretUntil } = webhook;
  const current: WebhookSignature = {
    label: 'sig',
    keyid: String(secretVersion),
    key: keyOf(id, secretVersion, secret),
  };
  if (!previousSecret || !previousSecretUntil || previousSecretUntil <= at) return [current];
  const version = secretVersion - 1;
  return [current, { label: 'sig-prev', keyid: String(version), key: keyOf(id, version, previousSecret) }];
}

/** Returns one signature, made with the current secret only: a legacy receiver knows no other (API decisions §5). */
function legacySignature(key: KeyObject, body: Buffer, at: Date): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return {
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('base64'),
  };
}

// Key objects cost more to make than a signature does. After a restore of the database from a backup, a version may be
// given again to another secret.
const keys = new LRUCache<string, { sealed: Buffer; key: KeyObject }>({ max: 10_000 });

function keyOf(webhookId: string, version: number, sealed: Buffer): KeyObject {
  const name = `${webhookId} ${version}`;
  let known = keys.get(name);
  if (!known?.sealed.equals(sealed)) {
    known = { sealed, key: webhookKey(open(webhookId, sealed)) };
    keys.set(name, known);
  }
  return known.key;
}
