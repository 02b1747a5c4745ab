import { LRUCache } from 'lru-cache';
import { batcher } from '../../../common/batcher.ts';
import { parsedUrl } from '../../../common/parsed-url.ts';
import { outsideTransaction } from '../../../db/client.ts';
import { listStates } from '../../../db/webhooks/deliveries/deliveries.system.ts';
import type { OriginName } from './webhook-queue.ts';

/**
 * The name of each webhook's origin. Only webhooks of one workspace share the slots of an origin: one origin may serve
 * many customers, as automation services do, and no customer may hold up another there.
 */
const names = new LRUCache<string, OriginName & { url: string }>({ max: 20_000 });

/** Returns the name under which a webhook's requests share their slots, and the workspace. */
export async function originOf(webhookId: string): Promise<OriginName> {
  return names.get(webhookId) ?? outsideTransaction(() => lookUps(webhookId));
}

/** Stores where a webhook leads now: its customer may have changed the URL. */
export function noteOrigin(webhookId: string, workspaceId: string, url: string): void {
  if (names.get(webhookId)?.url === url) return;
  const { protocol, hostname, port } = parsedUrl(url);
  const origin = `${protocol}//${hostname.replace(/\.$/, '')}:${port}`;
  names.set(webhookId, { workspaceId, origin, url });
}

const lookUps = batcher<string, OriginName>({
  maxItems: 200,
  maxInFlight: 4,
  run: async (webhookIds) => {
    for (const { id, workspaceId, url } of await listStates([...new Set(webhookIds)]))
      noteOrigin(id, workspaceId, url);
    // A deleted webhook leads nowhere; its id stands for an origin and a workspace.
    return webhookIds.map(
      (webhookId) => names.get(webhookId) ?? { workspaceId: webhookId, origin: webhookId },
    );
  },
});
