import { deliverWebhook } from '../../../jobs/deliver-webhook.ts';
import { readNextPayloads } from '../../../queue/queue.ts';
import { type JobRow, makeJobs } from '../../../work/shared-jobs.ts';

/**
 * A delivery that is to get a job; its owner is the webhook. `more`: more deliveries of this webhook wait for room than
 * could be admitted with this one.
 */
export type DeliveryTurn = JobRow & { more?: boolean };

/**
 * The most deliveries in one job. A job costs Redis and a worker about as much as a delivery does, so sharing saves
 * much at first. With more than ten deliveries it saves little more.
 */
const mostInJob = 10;

/**
 * One delivery in this many admits further deliveries of its webhook when it is done, so that a busy webhook does not
 * wait for the sweep.
 */
export const looksEvery = 200;

/**
 * Makes the jobs. First attempts that never had to wait have their own lane. Returns the turns that Redis did not take.
 */
export function wake<T extends DeliveryTurn>(turns: T[]): Promise<T[]> {
  return makeJobs(deliverWebhook, turns, {
    laneOf,
    mostIn: () => mostInJob,
    payloadOf: ([{ id, ownerId, dueAt, more }, ...others]) => ({
      deliveryId: id,
      webhookId: ownerId,
      dueAt: dueAt.getTime(),
      ...((more || others.some((other) => other.more)) && { more: true }),
      ...(others.length > 0 && {
        others: others.map((other) => ({ deliveryId: other.id, requestId: other.requestId })),
      }),
    }),
  });
}

const laneOf = ({ claims }: Pick<DeliveryTurn, 'claims'>) => (claims === 0 ? 'first' : 'retry');

/**
 * Returns a function that tells whether a delivery's lane has passed its due time. If not, the delivery's job still
 * waits, perhaps under the name of another delivery that shares the job.
 */
export async function passedLanes(): Promise<(turn: { claims: number; dueAt: Date }) => boolean> {
  const { first, retry } = deliverWebhook.lanes;
  const [firstDue, retryDue] = await Promise.all([nextDue(first), nextDue(retry)]);
  const next = { first: firstDue, retry: retryDue };
  return (turn) => turn.dueAt.getTime() < next[laneOf(turn)];
}

/** Returns the due time of the next job in a queue; infinity where no job waits. */
async function nextDue(queueName: string): Promise<number> {
  const next = (await readNextPayloads(queueName)).map((data) => deliverWebhook.payload.safeParse(data));
  return Math.min(...next.map(({ data }) => data?.dueAt ?? Number.POSITIVE_INFINITY));
}
