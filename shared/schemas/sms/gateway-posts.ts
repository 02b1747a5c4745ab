import { z } from 'zod';
import { Moment, text } from '../fields.ts';

/** The posts of a gateway of the type http (API decisions §13): no part of the API of customers. */

const PostId = text({ min: 1, max: 255 });
const Reference = z.string().regex(/^[\x21-\x7e]{1,60}$/, 'must be 1 to 60 visible ASCII characters');
const Party = text({ min: 1, max: 40 });
/** The longest incoming text in characters, from any gateway. */
export const longestInbound = 10_000;

export const GatewayReceipt = z.object({
  id: PostId,
  /** The reference that the gateway answered when it took the text. */
  reference: Reference,
  /** From 1, where each part of the text has a receipt of its own. */
  part: z.int().min(1).max(255).nullable().default(null),
  status: z.enum(['delivered', 'failed', 'expired']),
  errorCode: z
    .string()
    .regex(/^[\x20-\x7e]{1,40}$/, 'must be 1 to 40 ASCII characters')
    .nullable()
    .default(null),
  at: Moment.nullable().default(null),
});
export type GatewayReceipt = z.infer<typeof GatewayReceipt>;

export const GatewayText = z.object({
  id: PostId,
  /** Numbers in E.164, with the plus or without. */
  sender: Party,
  recipient: Party,
  /** The limits are wide: a phone may have sent anything, and a refused text would be lost. */
  content: z
    .string()
    .max(longestInbound)
    .transform((content) => content.toWellFormed()),
  receivedAt: Moment.nullable().default(null),
});
export type GatewayText = z.infer<typeof GatewayText>;
