import { closeAtEnd } from '../common/closing.ts';
import { config } from '../config/config.ts';
import { isForbiddenAddress, type Network, parseNetworks } from '../formats/network-address.ts';
import { type AttemptOutcome, post, type WebhookAttemptResult } from './webhook-http/attempt.ts';
import { ownNetworks } from './webhook-http/connect.ts';
import { createConnectionPool } from './webhook-http/connection-pool.ts';
import { createNameResolver, type Resolve } from './webhook-http/names.ts';

/** Posts one attempt of a delivery, and returns its result. */

export type {
  AttemptOutcome as WebhookAttempt,
  WebhookAttemptResult,
} from './webhook-http/attempt.ts';
export { ConnectError } from './webhook-http/connect.ts';
export { retryAfterSeconds } from './webhook-http/retry-after.ts';

/** A set of connections of its own. */
export type WebhookAgent = {
  post: (attempt: AttemptOutcome) => Promise<WebhookAttemptResult>;
  close: () => Promise<void>;
  /** Origins with a connection, open or being opened. */
  originCount: () => number;
};

export type WebhookAgentOptions = {
  /** How names become addresses; the hosts file and DNS when left out. */
  resolve?: Resolve;
  /** Networks that may be reached although they are not public. */
  allowed?: readonly Network[];
  /**
   * Addresses of this machine, which are forbidden unless they are allowed. Default: the addresses of its interfaces.
   */
  own?: () => readonly Network[];
  localAddress?: string | undefined;
  /** Certificates that are trusted instead of the system's. */
  ca?: string | undefined;
  connectionsPerOrigin?: number;
};

export function createWebhookAgent(options: WebhookAgentOptions = {}): WebhookAgent {
  const { allowed = [], own = ownNetworks } = options;
  const isForbidden = (address: string) => isForbiddenAddress(address, allowed, own());
  const names = createNameResolver({ isForbidden });
  const connections = createConnectionPool({
    resolve: options.resolve ?? names.resolve,
    isForbidden,
    localAddress: options.localAddress,
    ca: options.ca,
    // Two lanes deliver side by side. With fewer connections, attempts would wait for each other while their deadline
    // runs.
    connectionsPerOrigin: options.connectionsPerOrigin ?? 2 * config.WEBHOOK_CONCURRENCY,
  });
  return {
    post: (attempt) => post(connections, attempt),
    close: async () => {
      await connections.close();
      names.close();
    },
    originCount: connections.originCount,
  };
}

let ownAgent: WebhookAgent | undefined;

/** Posts one attempt. Rejects only for a fault on our own side, never for a fault of the network or the endpoint. */
export function postWebhook(attempt: AttemptOutcome): Promise<WebhookAttemptResult> {
  ownAgent ??= openOwnAgent();
  return ownAgent.post(attempt);
}

function openOwnAgent(): WebhookAgent {
  closeAtEnd(closeWebhookConnections);
  return createWebhookAgent({
    allowed: parseNetworks(config.WEBHOOK_ALLOWED_NETWORKS),
    localAddress: config.WEBHOOK_LOCAL_ADDRESS,
  });
}

/** Resolves when the attempts in flight have ended. A later attempt opens new connections. */
export async function closeWebhookConnections(): Promise<void> {
  const agent = ownAgent;
  ownAgent = undefined;
  await agent?.close();
}
