import { batcher } from '../../../common/batcher.ts';
import { outsideTransaction } from '../../../db/client.ts';
import { listAddresses } from '../../../db/webhooks/webhooks.system.ts';

/**
 * Which webhooks share the slots of an origin: those of one workspace that lead there. Not those of others: one origin may
 * serve many customers, as those of automation services do, and none of them is to be held up by what another has there.
 */
const names = new Map<string, string>();
const mostNames = 20_000;

/** The name of what a webhook's requests share their slots with. */
export async function originOf(webhookId: string): Promise<string> {
  return names.get(webhookId) ?? outsideTransaction(() => lookUps(webhookId));
}

/** Tells where it leads now: its customer may have changed that. */
export function noteOrigin(webhookId: string, workspaceId: string, url: string): void {
  const { protocol, hostname, port } = new URL(url);
  const name = `${workspaceId} ${protocol}//${hostname.replace(/\.$/, '')}:${port}`;
  if (names.get(webhookId) === name) return;
  if (names.size >= mostNames) names.delete(names.keys().next().value!);
  names.set(webhookId, name);
}

const lookUps = batcher<string, string>({
  maxItems: 200,
  maxInFlight: 4,
  run: async (webhookIds) => {
    for (const { webhookId, workspaceId, url } of await listAddresses([...new Set(webhookIds)]))
      noteOrigin(webhookId, workspaceId, url);
    // One that has been deleted goes nowhere.
    return webhookIds.map((webhookId) => names.get(webhookId) ?? webhookId);
  },
});
