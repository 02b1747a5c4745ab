import { hash } from 'node:crypto';
import { type Changed, execute, query } from '../client.ts';

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
export async function insertGatewayPost(post: GatewayPost, at: Date): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'INSERT IGNORE INTO sms_gateway_posts (gateway, digest, received_at) VALUES (?, ?, ?)',
    [...keyOf(post), at],
  );
  return affectedRows === 1;
}

export async function deleteGatewayPostsBefore(until: Date, limit: number): Promise<number> {
  const { affectedRows } = await query<Changed>(
    'DELETE FROM sms_gateway_posts WHERE received_at < ? ORDER BY received_at LIMIT ?',
    [until, limit],
  );
  return affectedRows;
}
