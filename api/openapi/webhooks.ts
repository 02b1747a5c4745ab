import { z } from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { type EventType, eventMeanings, eventShapes } from '../../shared/schemas/events.ts';
import { Id } from '../../shared/schemas/fields.ts';
import { exampleEvent } from './event-examples.ts';

/** The tag of the delivered events. The operations on webhooks have a tag of their own. */
export const deliveriesTag = 'Webhook events';

const text = (description: string, example: string) => z.string().meta({ description, example });

/** The headers of every delivery (RFC 9421, RFC 9530). */
const headers = z.object({
  'Webhook-Id': Id('delivery').meta({
    description:
      'The same in all attempts of a delivery: ignore a delivery whose Webhook-Id you have already processed',
    param: { id: 'WebhookId' },
  }),
  'Signature-Input': text(
    'What the signature covers, when it was made, and with which secret (keyid is the secretVersion of the webhook)',
    'sig=("@method" "@authority" "@path" "@query" "content-digest" "content-type" "webhook-id");created=1795168800;expires=1795169100;keyid="1";alg="hmac-sha256"',
  ).meta({ param: { id: 'SignatureInput' } }),
  Signature: text(
    'By the secret of the webhook; for 72 hours after a rotation there is sig-prev beside sig',
    'sig=:a2f1…:',
  ).meta({ param: { id: 'Signature' } }),
  'Content-Digest': text('SHA-256 of the body', 'sha-256=:x6Gr…:').meta({ param: { id: 'ContentDigest' } }),
});

const meanings: Record<string, string> = {
  ...eventMeanings,
  'webhook.test': 'A test of the webhook, which POST /v2/webhooks/{id}/test asks for',
};

/** The requests that are posted to the webhooks of a workspace, by type of event. */
export function webhookEvents(): Record<string, ZodOpenApiPathItemObject> {
  return Object.fromEntries(
    eventShapes.flatMap(({ types, shape }) => types.map((type) => [type, { post: delivery(type, shape) }])),
  );
}

function delivery(type: EventType | 'webhook.test', shape: z.ZodType) {
  return {
    operationId: type.replaceAll(/\.(\w)/g, (_all, letter: string) => letter.toUpperCase()),
    tags: [deliveriesTag],
    summary: type,
    description: `${meanings[type]}. Posted to each webhook that subscribes to \`${type}\`.`,
    // A delivery proves itself by its signature.
    security: [],
    requestParams: { header: headers },
    requestBody: {
      description: 'The event, byte for byte the same in all attempts',
      required: true,
      // Referred to by name, because answers have the same shape: the feed has the same events.
      content: {
        'application/json': {
          schema: { $ref: `#/components/schemas/${shape.meta()!.id}` },
          example: exampleEvent(type),
        },
      },
    },
    responses: {
      '2XX': { description: 'Any 2xx says that the delivery was accepted' },
      '4XX': {
        description:
          'Any other answer, or none within the time limit, is a failure, and the delivery is attempted again; 429 is none: the webhook is left alone until Retry-After',
      },
    },
  };
}
