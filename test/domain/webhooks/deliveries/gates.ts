import {
  type ConcurrencyLimiter,
  type ConcurrencyLimits,
  createConcurrencyLimiter,
} from '../../../../shared/domain/webhooks/deliveries/concurrency-limiter.ts';
import type { OriginName } from '../../../../shared/domain/webhooks/deliveries/webhook-queue.ts';

export const limits: ConcurrencyLimits = {
  perWebhook: 20,
  inFlight: 400,
  inAll: 500,
  ahead: 600,
  waiting: 200,
  longestWaitMs: 60_000,
  patienceMs: 60_000,
  isSaturated: false,
};
export const limiterOf = (changes: Partial<ConcurrencyLimits> = {}) =>
  createConcurrencyLimiter({ ...limits, ...changes });

/** Makes an endpoint that answers only when a test tells it to. */
export function endpoint() {
  const answers: (() => void)[] = [];
  let [out, most] = [0, 0];
  return {
    out: () => out,
    unanswered: () => answers.length,
    most: () => most,
    answer: (count = answers.length) => {
      for (const answer of answers.splice(0, count)) answer();
    },
    request: async () => {
      out += 1;
      most = Math.max(most, out);
      await new Promise<void>((resolve) => answers.push(resolve));
      out -= 1;
      return {};
    },
  };
}

/** Sends `count` deliveries to a webhook, and counts their outcomes. An origin without a workspace has one of its own. */
export function send(
  limiter: ConcurrencyLimiter,
  webhookId: string,
  count: number,
  request: () => Promise<object>,
  share = 1,
  name: OriginName | string = webhookId,
) {
  const origin = typeof name === 'string' ? { workspaceId: name, origin: name } : name;
  const ended = { posted: 0, sentAway: 0 };
  const one = async () => {
    const place = await limiter.enter(webhookId, origin, share);
    if (place && (await place.post(request))) ended.posted += 1;
    else ended.sentAway += 1;
  };
  const all = Promise.all(Array.from({ length: count }, one));
  return { ended, all };
}
