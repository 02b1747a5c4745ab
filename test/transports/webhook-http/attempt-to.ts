import { parseNetworks } from '../../../shared/formats/network-address.ts';
import { signWebhookRequest, webhookKey } from '../../../shared/formats/signatures/http-signature.ts';
import {
  createWebhookAgent,
  type WebhookAgent,
  type WebhookAgentOptions,
  type WebhookAttempt,
} from '../../../shared/transports/webhook-http.ts';
import { atEnd } from '../../support/runner/at-end.ts';

export const secrets = { sig: `whsec_${'n'.repeat(43)}`, 'sig-prev': `whsec_${'o'.repeat(43)}` } as const;

export const loopback = parseNetworks(['127.0.0.0/8']);

const signatures = [
  { label: 'sig', keyid: '2', key: webhookKey(secrets.sig) },
  { label: 'sig-prev', keyid: '1', key: webhookKey(secrets['sig-prev']) },
] as const;

export const anyId = 'delivery_01h455vb4pex5vsknk084sn02q';
const anyBody = '{"id":"event_01h455vb4pex5vsknk084sn02q","type":"email.sent"}';

type Changes = { body?: string | Buffer; webhookId?: string; timeoutMs?: number };

/** Makes an attempt with both signatures, and a time-out long enough for a busy machine. */
export function attemptTo(url: string, changes: Changes = {}): WebhookAttempt {
  const { body = anyBody, webhookId = anyId, timeoutMs = 100_000 } = changes;
  const message = { body, webhookId, contentType: 'application/json', createdAt: new Date(), signatures };
  return {
    url,
    body: typeof body === 'string' ? Buffer.from(body) : body,
    headers: signWebhookRequest({ url: new URL(url), ...message }),
    timeoutMs,
  };
}

/** Makes an agent that may reach loopback addresses, unless the options say otherwise. */
export function startAgent(options: WebhookAgentOptions = {}): WebhookAgent {
  const agent = createWebhookAgent({ allowed: loopback, ...options });
  atEnd(() => agent.close());
  return agent;
}
