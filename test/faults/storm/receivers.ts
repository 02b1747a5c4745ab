import { createHash, createHmac } from 'node:crypto';
import { isSignedBy } from '../../support/servers/verify-delivery.ts';
import {
  type Answer,
  type ReceivedRequest,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts';
import type { Random } from './types.ts';

/** How an endpoint answers until `calm`: always well, at times with an error, or at times not at all. */
export type Manner = 'healthy' | 'failing' | 'hanging';

export type Received = {
  webhookId: string;
  eventId: string;
  /** Hashes of the body's bytes. More than one: the attempts of one delivery had different bodies. */
  hashes: string[];
  /** The time of each attempt, by Date.now(), and the status of our answer; null if there was none. */
  attempts: { atMs: number; status: number | null }[];
};

type Subscriber = { webhookId: string; secret: string; isLegacy: boolean };
/** Creates the webhook for the URL, and returns its id and secret. */
type Opening = (url: string) => Promise<Subscriber>;

/** Opens the customers' endpoints, which keep hashes, not bodies. No other part draws from `random`. */
export function startReceivers(random: Random) {
  const received = new Map<string, Received>();
  const oddities: string[] = [];
  const servers: WebhookReceiver[] = [];
  let isCalm = false;

  function answerOf(manner: Manner): Answer {
    if (isCalm || manner === 'healthy') return {};
    const chance = random();
    if (manner === 'hanging') return chance < 0.03 ? { fault: 'hang' } : {};
    if (chance < 0.03) return { fault: 'reset' };
    if (chance < 0.05) return { status: 429, headers: { 'retry-after': '1' } };
    return chance < 0.2 ? { status: 500 } : {};
  }

  async function take(request: ReceivedRequest, subscriber: Subscriber, answer: Answer): Promise<void> {
    const { webhookId, isLegacy } = subscriber;
    const deliveryId = request.headers['webhook-id'];
    if (!deliveryId) return void oddities.push(`${webhookId}: a request without a Webhook-Id`);
    if (!(isLegacy ? isLegacySigned(request, subscriber) : await isSigned(request, subscriber)))
      oddities.push(`${webhookId}: ${deliveryId} is not signed by its secret`);
    const hash = createHash('sha256').update(request.body).digest('base64').slice(0, 22);
    const status = answer.fault ? null : (answer.status ?? 200);
    const known = received.get(deliveryId);
    const eventId = known?.eventId ?? JSON.parse(request.body.toString()).id;
    const delivery: Received = known ?? { webhookId, eventId, hashes: [], attempts: [] };
    if (known && known.webhookId !== webhookId) oddities.push(`${deliveryId} came for two webhooks`);
    if (!delivery.hashes.includes(hash)) delivery.hashes.push(hash);
    delivery.attempts.push({ atMs: request.at, status });
    received.set(deliveryId, delivery);
  }

  return {
    received,
    /** Requests that no endpoint should ever see. */
    oddities,
    /** Opens one more endpoint, with a server of its own. */
    async open(manner: Manner, opens: Opening): Promise<string> {
      const server = await startWebhookReceiver();
      servers.push(server);
      const subscriber = await opens(`${server.url}/hook`);
      server.respondWith(async (request) => {
        server.requests.length = 0;
        const answer = answerOf(manner);
        await take(request, subscriber, answer);
        return answer;
      });
      return subscriber.webhookId;
    },
    /** Makes all endpoints answer well from now on. */
    calm: () => {
      isCalm = true;
    },
    close: () => Promise.all(servers.map((server) => server.close())),
  };
}

export type Receivers = ReturnType<typeof startReceivers>;

const isSigned = (request: ReceivedRequest, { secret }: Subscriber): Promise<boolean> =>
  isSignedBy(request, 'sig', secret).catch(() => false);

function isLegacySigned({ headers, body }: ReceivedRequest, { secret }: Subscriber): boolean {
  const hmac = createHmac('sha256', secret).update(`${headers['x-webhook-timestamp']}.`).update(body);
  return headers['x-webhook-signature'] === hmac.digest('base64');
}
