import { now } from '../../../common/clock.ts';
import { count } from '../../../common/metrics.ts';
import {
  type GatewayPost,
  insertGatewayPost,
  isGatewayPostStored,
} from '../../../db/sms/gateway-posts.system.ts';
import type { GatewayReceipt, GatewayText } from '../../../schemas/sms/gateway-posts.ts';
import type { SmsReason } from '../../../schemas/sms/sms.ts';
import { partReference } from '../../../transports/sms/http/part-reference.ts';
import { keep, reportingFailure } from './gateways.ts';
import * as receipts from './receipts.ts';

/**
 * The posts of a gateway of the type http. Each function resolves when the post is on disk; only then may the caller
 * acknowledge it to the gateway.
 */

type ReceiptPost = { gateway: string; receipt: GatewayReceipt };
type TextPost = { gateway: string; text: GatewayText };

/**
 * A receipt of an unknown text is kept for a while, because the text may not be stored yet. Receipts are applied before
 * their posts are stored and outside of any transaction, because applying them needs a connection of its own. A post
 * that comes again is not applied again: meanwhile the gateway may have given its reference to a newer text.
 */
export const takeReceipt = reportingFailure(async ({ gateway, receipt }: ReceiptPost): Promise<void> => {
  const { id, reference, part } = receipt;
  const post: GatewayPost = { gateway, kind: 'receipt', id };
  if (await isGatewayPostStored(post)) {
    count('sms_gateway_receipts', { gateway, outcome: 'repeated' });
    return;
  }
  const { isKnown } = await receipts.apply({
    gateway,
    reference: part === null ? reference : partReference(reference, part),
    reason: reasonOf(receipt),
  });
  const isNew = await insertGatewayPost(post, now());
  count('sms_gateway_receipts', { gateway, outcome: isNew ? (isKnown ? 'applied' : 'unknown') : 'repeated' });
});

export const takeText = reportingFailure(async ({ gateway, text }: TextPost): Promise<void> => {
  const { id, sender, recipient, content } = text;
  const post: GatewayPost = { gateway, kind: 'text', id };
  await keep({ gateway, sender, recipient, content, place: null }, (at) => insertGatewayPost(post, at));
});

const failures = {
  failed: { category: 'undeliverable', detail: 'The message could not be delivered', retryable: false },
  expired: { category: 'expired', detail: 'The phone could not be reached in time', retryable: true },
} as const;

/** The code of the gateway names the cause, where it gives one. */
function reasonOf({ status, errorCode }: GatewayReceipt): SmsReason | null {
  if (status === 'delivered') return null;
  const { category, detail, retryable } = failures[status];
  const suffix = errorCode === null ? '' : ` (error ${errorCode})`;
  return { category, code: errorCode ?? category, description: `${detail}${suffix}`, retryable };
}
