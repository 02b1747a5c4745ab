import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { makeWebhook } from '../../support/data/deliveries.ts';
import type { workspace } from '../../support/data/factory.ts';
import { newUrl } from '../../support/servers/webhook-url.ts';

type Workspace = Awaited<ReturnType<typeof workspace>>;
export type Kind = [type: string, status: string];
type Row = { id: string; type: string; status: string };

export async function makeHook(own: Workspace): Promise<string> {
  return (await makeWebhook(own, newUrl())).id;
}

/** Inserts deliveries as the engine leaves them, oldest first; `columns` are the same for all. */
export async function insertRows(
  own: Workspace,
  webhookId: string,
  kinds: Kind[],
  columns: object = {},
): Promise<Row[]> {
  const time = now();
  const rows = kinds.map(([type, status]) => ({ id: newId('delivery', time), type, status }));
  const extra = Object.entries(columns);
  const names = ['id', 'workspace_id', 'webhook_id', 'event_id', 'event_type', 'status', 'created_at'];
  await query(
    `INSERT INTO webhook_deliveries (${[...names, ...extra.map(([name]) => name)].join(', ')}) VALUES ?`,
    [
      rows.map(({ id, type, status }) => [
        idToBytes(id),
        idToBytes(own.workspaceId),
        idToBytes(webhookId),
        idToBytes(newId('event', time)),
        type,
        status,
        time,
        ...extra.map(([, value]) => value),
      ]),
    ],
  );
  return rows;
}
