import { createSecretKey } from 'node:crypto';
import type { Request, Response, Router } from 'express';
import type { z } from 'zod';
import { problem } from '../../shared/common/errors.ts';
import { semaphore } from '../../shared/common/semaphore.ts';
import { config } from '../../shared/config/config.ts';
import type { HttpSettings } from '../../shared/config/sms-gateways.ts';
import type { Signer } from '../../shared/domain/requests/signatures.ts';
import * as posts from '../../shared/domain/sms/gateways/posts.ts';
import { GatewayReceipt, GatewayText } from '../../shared/schemas/sms/gateway-posts.ts';
import type { FailureLimit } from '../middleware/authenticate.ts';
import { parseBody } from '../middleware/json-body.ts';
import { unpaced } from '../middleware/large-body.ts';
import { readBody } from '../middleware/raw-body.ts';
import { acceptSignature, verifySignature } from '../middleware/request-signature.ts';
import { checkedBody } from '../validation.ts';
import { route } from './route.ts';

const largestBytes = 64 * 1024;
const bodyMs = 10_000;
/** Posts of one gateway that may wait. Further posts are refused, and the gateway has to send them again. */
const mostWaiting = 200;
const longestWaitMs = 5_000;

/**
 * Serves the addresses where gateways of the type http report the outcome of texts, and deliver incoming texts. The
 * answer is 204 once a post is on disk; after any other answer, or none, the gateway has to send it again.
 */
export function gatewayDoors(failures: FailureLimit): Router[] {
  // Posts of one gateway may use a quarter of the connections to the database, and those of all gateways half of them,
  // so that a flood of posts leaves the rest to others.
  const permits = () => Math.max(1, Math.floor(config.MYSQL_POOL_SIZE / 4));
  const inAll = () => Math.floor(config.MYSQL_POOL_SIZE / 2);
  const turns = semaphore({ permits, inAll, waitMs: longestWaitMs, mostWaiting });

  function door<Body extends z.ZodType>(
    path: string,
    schema: Body,
    take: (gateway: string, body: z.output<Body>) => Promise<void>,
  ): Router {
    return route<{ name: string }>(`/gateways/:name/${path}`, {
      post: async (request, response) => {
        const settings = settingsOf(request.params.name);
        const body = checkedBody(schema, await signedBody(request, response, settings, failures));
        const refusal = () =>
          problem('service_unavailable', {
            detail:
              'This gateway sends more at a time than the service can take. Send this request again later',
            retryAfterSeconds: 5,
          });
        await turns.run(settings.name, refusal, () => take(settings.name, body));
        response.status(204).set('Cache-Control', 'no-store').end();
      },
    });
  }

  return [
    door('receipts', GatewayReceipt, (gateway, receipt) => posts.takeReceipt({ gateway, receipt })),
    door('messages', GatewayText, (gateway, text) => posts.takeText({ gateway, text })),
  ];
}

function settingsOf(name: string): HttpSettings {
  const settings = config.SMS_GATEWAYS?.find((one) => one.name === name);
  if (settings?.type !== 'http')
    throw problem('not_found', { detail: 'SMS_GATEWAYS has no gateway with this name and the type http.' });
  return settings;
}

/** Returns the parsed body; the signature is checked before anything else of the request. */
async function signedBody(
  request: Request,
  response: Response,
  settings: HttpSettings,
  failures: FailureLimit,
): Promise<unknown> {
  try {
    const verified = verifySignature(request, signerOf(settings));
    if (!verified)
      throw problem('signature_required', {
        detail: 'Sign the request with the secret of the gateway (RFC 9421).',
      });
    const raw = await readBody(request, response, {
      limitBytes: largestBytes,
      timeoutMs: bodyMs,
      leastRate: { bytes: 1, withinMs: bodyMs },
      owner: `gateway ${settings.name}`,
      busyCode: 'service_unavailable',
    });
    // A repeated post is known by its id, so a nonce has nothing to add.
    await acceptSignature({ ...verified, nonce: null }, raw, unpaced);
    return parseBody(raw as Buffer, []);
  } catch (thrown) {
    throw await failures.refusalFor(request, thrown);
  }
}

const signers = new WeakMap<HttpSettings, Signer>();

function signerOf(settings: HttpSettings): Signer {
  const known = signers.get(settings);
  if (known) return known;
  const key = createSecretKey(Buffer.from(settings.secret));
  const signer: Signer = {
    keyId: settings.name,
    keyIdIs: 'the name of this gateway',
    strictMode: false,
    signing: { algorithm: 'hmac_sha256', keys: [{ key, until: null }] },
  };
  signers.set(settings, signer);
  return signer;
}
