import { execute } from '../client.ts';

/** Gateways that the operator has paused: no new texts go to them. */

type GatewayPause = { gateway: string; at: Date };

export async function listGatewayPauses(): Promise<GatewayPause[]> {
  const rows = await execute<{ gateway: Buffer; paused_at: Date }[]>(
    'SELECT gateway, paused_at FROM sms_gateway_pauses',
    [],
  );
  return rows.map((row) => ({ gateway: row.gateway.toString(), at: row.paused_at }));
}

/** Pauses a gateway; one that is paused already keeps its time. */
export async function insertGatewayPause({ gateway, at }: GatewayPause): Promise<void> {
  await execute('INSERT IGNORE INTO sms_gateway_pauses (gateway, paused_at) VALUES (?, ?)', [
    Buffer.from(gateway),
    at,
  ]);
}

export async function deleteGatewayPause(gateway: string): Promise<void> {
  await execute('DELETE FROM sms_gateway_pauses WHERE gateway = ?', [Buffer.from(gateway)]);
}
