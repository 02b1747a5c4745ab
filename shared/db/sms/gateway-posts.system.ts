import { hash } from 'node:crypto';
import { changeRow, execute } from '../client.ts';

/** Receipts and texts that gateways posted to us, by the ids that the gateways gave. */
export type GatewayPost = { gateway: string; kind: 'receipt' | 'text'; id: string };

const keyOf = ({ gateway, kind, id }: GatewayPost) => [
  Buffer.from(gateway),
  hash('sha256', `${kind} ${id}`, 'buffer'),
];

export async function isGatewayPostStored(post: GatewayPost): Promise<boolean> {
  const rows = await execute('SELECT 1 FROM sms_gateway_posts WHERE gateway = ? AND digest = ?', keyOf(post));
  return rows.length > 0;
}

/** Stores a post; false where the gateway posted the same before and that was committed. */
export function insertGatewayPost(post: GatewayPost, at: Date): Promise<boolean> {
  return changeRow('INSERT IGNORE INTO sms_gateway_posts (gateway, digest, received_at) VALUES (?, ?, ?)', [
    ...keyOf(post),
    at,
  ]);
}
