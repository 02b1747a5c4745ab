import { createSecretKey } from 'node:crypto';
import { now } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import type { HttpSettings } from '../../../config/sms-gateways.ts';
import { parseNetworks } from '../../../formats/network-address.ts';
import { signRequest } from '../../../formats/signatures/http-signature.ts';
import { partsOf } from '../../../formats/sms/gsm-7.ts';
import { retryAfterSeconds } from '../../webhook-http/retry-after.ts';
import type { WebhookAgent } from '../../webhook-http.ts';
import { answerMs, createAdmission, later, waitMs } from '../admission.ts';
import type { Gateway, PartTaken, Submission, TextMessage } from '../gateway.ts';
import { createWindow } from '../window.ts';
import { outcomeOf } from './outcome.ts';
import { partReference } from './part-reference.ts';

const contentType = 'application/json';
/** Bytes of the answer that are kept: enough for a problem document. */
const keptBytes = 16 * 1024;
// The operator has named the address, so it may be of any network.
const everywhere = parseNetworks(['0.0.0.0/0', '::/0']);

/**
 * Creates the gateway to a carrier that takes texts by HTTP, or to a small program in front of one. A retry posts the
 * same id, so that the other side can recognise the text.
 */
export function createHttpGateway(settings: HttpSettings): Gateway {
  const { name, url, window } = settings;
  const key = createSecretKey(Buffer.from(settings.secret));
  const admission = createAdmission(settings);
  const places = createWindow(window);
  const state = { downSince: null as Date | null, lastError: null as string | null };
  let agent: WebhookAgent | null = null;
  let taken = 0;

  async function submit(message: TextMessage): Promise<Submission> {
    const end = performance.now() + waitMs();
    return admission.admit(message, async (started) => {
      const leftMs = () => Math.max(0, end - performance.now());
      // A text that waits for the rate takes no place: the carrier does not owe it an answer.
      if (!(await admission.takeTurn(leftMs(), message.lane)))
        return admission.putOffUnsent(message, 'the rate is used up');
      const detail = await places.take(leftMs(), message.lane);
      if (detail !== null) return admission.putOffUnsent(message, detail, places.isSilent());
      try {
        started();
        return await hand(message);
      } finally {
        places.release();
      }
    });
  }

  async function hand(message: TextMessage): Promise<Submission> {
    const body = Buffer.from(JSON.stringify(bodyOf(message)));
    const createdAt = now();
    const headers = signRequest({ method: 'POST', url, body, contentType, createdAt, keyid: name, key });
    // A process that hands no texts over does without the HTTP client.
    const { ConnectError, createWebhookAgent } = await import('../../webhook-http.ts');
    agent ??= createWebhookAgent({ allowed: everywhere, ca: settings.ca, connectionsPerOrigin: window });
    const post = { url, body, headers: { ...headers }, timeoutMs: answerMs(), keptBytes, isSentOnce: true };
    const postedAt = performance.now();
    const result = await agent.post(post).catch((error: Error) => {
      if (!(error instanceof ConnectError)) throw error;
      // This machine has no room for another connection, for example no file descriptor: nothing was sent.
      return later(`Not sent, by a fault of our own: ${(error.cause as Error).message}`, 1_000);
    });
    if ('kind' in result) return result;
    if (result.responseStatus !== null) places.noteAnswer(performance.now() - postedAt);
    const outcome = outcomeOf(result);
    const isFault = outcome.kind === 'fault' || outcome.kind === 'unavailable';
    if (outcome.kind === 'fault' && result.responseStatus === null) admission.noteLost();
    else admission.note(message.workspaceId, isFault);
    note(isFault ? outcome.detail : null);
    if (outcome.kind !== 'accepted')
      count('sms_gateway_refusals', { gateway: name, status: String(result.responseStatus ?? result.error) });
    switch (outcome.kind) {
      case 'accepted':
        admission.tookOne();
        taken += 1;
        return { ...outcome, ...partsNamed(outcome.reference, message.parts) };
      case 'busy': {
        const { retryAfter } = result;
        const namedMs = retryAfter === null ? undefined : retryAfterSeconds(retryAfter, now()) * 1000;
        return admission.putOffThrottled(message, outcome.detail, namedMs);
      }
      case 'fault':
        return later(outcome.detail, admission.throttleMs());
      case 'refused':
      case 'unavailable':
        return outcome;
    }
  }

  function note(fault: string | null): void {
    if (fault !== null && !state.downSince)
      logger.warn({ gateway: name, detail: fault }, 'a gateway does not accept texts');
    if (fault === null && state.downSince) logger.warn({ gateway: name }, 'a gateway is up again');
    state.downSince = fault === null ? null : (state.downSince ?? now());
    state.lastError = fault;
  }

  return {
    name,
    isUp: admission.isOpen,
    state: () => ({ ...state, isBound: state.downSince === null, inUse: places.inUse(), window, taken }),
    submit,
    putOffPaused: admission.putOffPaused,
    returns: admission.returns,
    close: async () => {
      const left = agent;
      agent = null;
      await left?.close();
    },
  };
}

function bodyOf({ id, sender, recipient, content, parts }: TextMessage) {
  return { id, sender, recipient, content, encoding: partsOf(content).encoding, parts };
}

/** Names the parts of a long text, because the receipts may be for each part. */
function partsNamed(reference: string, parts: number): { parts?: PartTaken[] } {
  if (parts < 2) return {};
  return {
    parts: Array.from({ length: parts }, (_, index) => ({
      part: index + 1,
      reference: partReference(reference, index + 1),
    })),
  };
}
