import type { WaitingDelivery } from '../../db/system/webhook-deliveries.ts';
import { deliverWebhook } from '../../jobs/deliver-webhook.ts';
import { enqueueAll } from '../../queue.ts';

/** A job to be made: `claims` names the turn that it is for, and so the job. */
export type Turn = Pick<WaitingDelivery, 'id' | 'webhookId' | 'claims' | 'requestId'> & {
  dueAt: Date | null;
  /** More deliveries of this webhook wait for room than could be let in with this one. */
  more: boolean;
  /** Where a job under the usual name is not trusted to run. */
  suffix?: string;
};

/**
 * Makes the jobs. First attempts that never had to wait have a lane of their own. Returns those that Redis did not take.
 */
export async function wake<T extends Turn>(turns: T[]): Promise<T[]> {
  const lanes = Map.groupBy(turns, ({ claims }) => (claims === 0 ? 'first' : 'retry'));
  const missed: T[] = [];
  for (const [lane, inLane] of lanes) {
    const items = inLane.map(({ id, webhookId, claims, dueAt, requestId, more, suffix }) => ({
      payload: { deliveryId: id, webhookId, ...(more && { more }) },
      id: `${id}-${claims + 1}${suffix ?? ''}`,
      at: dueAt,
      requestId,
    }));
    if (!(await enqueueAll(deliverWebhook, lane, items))) missed.push(...inLane);
  }
  return missed;
}
