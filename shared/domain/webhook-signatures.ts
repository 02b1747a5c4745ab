import type { KeyObject } from 'node:crypto';
import { type WebhookSignature, webhookKey } from '../formats/http-signature.ts';
import { open } from '../secrets.ts';

/** What of a webhook its signatures need. */
export type SigningWebhook = { id: string; secretVersion: number; secret: Buffer };

// Key objects cost more to make than a signature does.
const keys = new Map<string, KeyObject>();
const maxKeys = 10_000;

/** The signatures that a delivery carries now. */
export function signaturesOf(webhook: SigningWebhook): WebhookSignature[] {
  return [
    {
      label: 'sig',
      keyid: String(webhook.secretVersion),
      key: keyOf(webhook.id, webhook.secretVersion, webhook.secret),
    },
  ];
}

function keyOf(webhookId: string, version: number, sealed: Buffer): KeyObject {
  const name = `${webhookId} ${version}`;
  let key = keys.get(name);
  if (!key) {
    key = webhookKey(open(webhookId, sealed));
    if (keys.size >= maxKeys) keys.delete(keys.keys().next().value!);
    keys.set(name, key);
  }
  return key;
}
