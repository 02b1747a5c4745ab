import { problem } from '../../common/errors.ts';
import * as db from '../../db/webhooks/webhooks.ts';

/** The fields that decide which events are sent where. */
type WebhookTarget = Pick<db.WebhookRecord, 'url' | 'events' | 'inboundNumber'>;

/**
 * Refuses a second webhook for the same events at the same URL: it would only send each event twice. The caller must
 * have locked the workspace, so that the second of two simultaneous requests sees the first webhook.
 */
export async function refuseSecond(
  workspaceId: string,
  webhook: WebhookTarget & { id?: string },
): Promise<void> {
  const same = (await db.listWebhooks(workspaceId)).find(
    (other) => other.id !== webhook.id && isSame(other, webhook),
  );
  if (same)
    throw problem('webhook_exists', {
      detail: `The webhook ${same.id} has the same url, events and inboundNumber.`,
    });
}

export function isSame(one: WebhookTarget, other: WebhookTarget): boolean {
  const [events, others] = [new Set(one.events), new Set(other.events)];
  return (
    one.inboundNumber === other.inboundNumber &&
    events.size === others.size &&
    one.events.every((event) => others.has(event)) &&
    requestedAt(one.url) === requestedAt(other.url)
  );
}

/** Returns the target of a request for the URL, however it is written: a fragment is never sent. */
function requestedAt(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return origin + pathname + search;
}
