import { now } from '../../../common/clock.ts';
import { config } from '../../../config/config.ts';
import {
  listWebhooksWaitingSince,
  updateExpired,
} from '../../../db/webhooks/deliveries/deliveries.system.ts';

const dayMs = 86_400_000;
/**
 * A delivery that was not accepted this long after its event, or after it was sent again on request, has failed,
 * however often it was told to wait. It ends before the purge deletes it, however short deliveries are kept.
 */
export const lifeMs = (): number => Math.min(7, config.EVENT_RETENTION_DAYS) * dayMs;

const batchSize = 1_000;

/** Fails deliveries that waited too long without a turn, in a pause or behind a backlog. Returns their number. */
export async function expire(isStopping: () => boolean = () => false): Promise<number> {
  const time = now();
  const before = new Date(time.getTime() - lifeMs());
  let total = 0;
  for (const webhookId of await listWebhooksWaitingSince(before))
    for (let after: string | null = null; ; ) {
      const { given, last } = await updateExpired(webhookId, { before, after, limit: batchSize }, time);
      total += given;
      if (last === null || isStopping()) break;
      after = last;
    }
  return total;
}
