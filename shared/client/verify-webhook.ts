import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Event } from './operations.ts';

/** A webhook came that we do not believe: answer it with 401. */
export class WebhookRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'WebhookRefused';
  }
}

export type ReceivedWebhook = {
  /** The address that was called, as the webhook has it: `new URL(request.url, 'https://hooks.acme.example')`. */
  url: string | URL;
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
  /** The bytes as they came; a body that was parsed and written anew may differ. */
  body: string | Uint8Array;
  /** The signing secret of the webhook; during a rotation the new one and the old one. */
  secrets: string | readonly string[];
  /** Usually POST. */
  method?: string;
  now?: Date;
};

export type VerifiedWebhook = {
  /** The same each time that this delivery comes: who has dealt with it once may pass it over. */
  id: string;
  event: Event;
};

const covered = '("@method" "@authority" "@path" "@query" "content-digest" "content-type" "webhook-id")';

/**
 * The event of a webhook, if one of the secrets has signed it for this address and the signature still holds (RFC 9421).
 * @throws {WebhookRefused} where it is not genuine
 */
export function verifyWebhook(received: ReceivedWebhook): VerifiedWebhook {
  const { body, secrets, method = 'POST', now = new Date() } = received;
  const url = new URL(received.url);
  const field = (name: string) => fieldOf(received.headers, name);
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  if (field('content-digest') !== digest) throw new WebhookRefused('The body is not the one that was signed');
  const id = field('webhook-id');
  const lines = [
    `"@method": ${method}`,
    `"@authority": ${url.host}`,
    `"@path": ${url.pathname}`,
    `"@query": ${url.search || '?'}`,
    `"content-digest": ${digest}`,
    `"content-type": ${field('content-type')}`,
    `"webhook-id": ${id}`,
  ];
  // During a rotation there are two, labelled sig and sig-prev; one that is good is enough.
  const signatures = membersOf(field('signature'));
  let hasExpired = false;
  for (const [label, params] of membersOf(field('signature-input'))) {
    if (!params.startsWith(`${covered};`)) continue;
    const base = [...lines, `"@signature-params": ${params}`].join('\n');
    const given = signatures.get(label) ?? '';
    if (![secrets].flat().some((secret) => isMadeWith(secret, base, given))) continue;
    const expires = Number(/;expires=(\d+)(?:;|$)/.exec(params)?.[1]);
    if (expires > now.getTime() / 1000) return { id, event: eventOf(body) };
    hasExpired = true;
  }
  throw new WebhookRefused(
    hasExpired ? 'The signature has expired' : 'No signature was made with a secret of ours',
  );
}

function fieldOf(headers: ReceivedWebhook['headers'], name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const value = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return [value ?? ''].flat().join(', ');
}

/** The labels of a signature's field and their values: `sig=…, sig-prev=…`. No value has a comma. */
function membersOf(field: string): Map<string, string> {
  return new Map(
    [...field.matchAll(/([\w-]+)=([^,]+)/g)].map(([, label, value]) => [label!, value!.trim()] as const),
  );
}

function isMadeWith(secret: string, base: string, given: string): boolean {
  const expected = Buffer.from(`:${createHmac('sha256', secret).update(base).digest('base64')}:`);
  const signature = Buffer.from(given);
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}

function eventOf(body: string | Uint8Array): Event {
  return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()) as Event;
}
