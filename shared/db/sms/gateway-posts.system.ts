import { hash } from 'node:crypto';
import { type Changed, execute, query } from '../client.ts';

/** Receipts and texts that gateways posted to us, by the ids that the gateways gave. */
export type GatewayPost = { gateway: string; kind: 'receipt' | 'text'; id: string };

/** Stores a post; false where the gateway posted the same before and that was committed. */
export async function insertGatewayPost({ gateway, kind, id }: GatewayPost, at: Date): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    'INSERT IGNORE INTO sms_gateway_posts (gateway, digest, received_at) VALUES (?, ?, ?)',
    [Buffer.from(gateway), hash('sha256', `${kind} ${id}`, 'buffer'), at],
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
