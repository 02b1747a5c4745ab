import { webhookKey } from '../../../shared/formats/http-signature.ts';
import { parseNetworks } from '../../../shared/formats/network-address.ts';
import {
  createWebhookAgent,
  type WebhookAgent,
  type WebhookAgentOptions,
  type WebhookAttempt,
} from '../../../shared/transports/webhook-http.ts';
import { atEnd } from '../../support/at-end.ts';

export const secrets = { sig: `whsec_${'n'.repeat(43)}`, 'sig-prev': `whsec_${'o'.repeat(43)}` } as const;

export const loopback = parseNetworks(['127.0.0.0/8']);

/** An attempt with both signatures, and with time enough for a busy machine. */
export function attemptTo(url: string, changes: Partial<WebhookAttempt> = {}): WebhookAttempt {
  return {
    url,
    body: '{"id":"event_01h455vb4pex5vsknk084sn02q","type":"email.sent"}',
    contentType: 'application/json',
    webhookId: 'delivery_01h455vb4pex5vsknk084sn02q',
    createdAt: new Date(),
    signatures: [
      { label: 'sig', keyid: '2', key: webhookKey(secrets.sig) },
      { label: 'sig-prev', keyid: '1', key: webhookKey(secrets['sig-prev']) },
    ],
    timeoutMs: 30_000,
    ...changes,
  };
}

/** An agent of its own, that may reach loopback unless told otherwise. */
export function startAgent(options: WebhookAgentOptions = {}): WebhookAgent {
  const agent = createWebhookAgent({ allowed: loopback, ...options });
  atEnd(() => agent.close());
  return agent;
}
