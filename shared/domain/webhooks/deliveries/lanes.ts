import { now } from '../../../common/clock.ts';
import type { WaitingRow } from '../../../db/work/admission.system.ts';
import { deliverWebhook } from '../../../jobs/deliver-webhook.ts';
import { enqueueAll, readNextPayloads } from '../../../queue/queue.ts';
import { inSharedJobs, type SharedJob, sharedJobName } from '../../../work/shared-jobs.ts';

/** A delivery that is to get a job. `claims` numbers the turn that the job is for, and is part of the job's name. */
export type DeliveryTurn = Pick<WaitingRow, 'id' | 'claims' | 'requestId' | 'dueAt'> & {
  webhookId: string;
  /** More deliveries of this webhook wait for room than could be admitted with this one. */
  more: boolean;
  /** Set where a job under the usual name is not trusted to run. */
  suffix?: string;
};

/**
 * A job costs Redis and a worker about as much as the delivery itself does; from ten on, sharing it more saves little.
 */
const mostInJob = 10;

/** So that a busy webhook does not wait for the sweep, one delivery in this many looks for more when it is done. */
export const looksEvery = 200;

/**
 * Makes the jobs. One job holds up to `most` deliveries of a webhook that are due now; a delivery that is due later has
 * a job of its own. First attempts that never had to wait have their own lane. Returns the turns that Redis did not
 * take.
 */
export async function wake<T extends DeliveryTurn>(turns: T[], most = mostInJob): Promise<T[]> {
  const time = now();
  const ownerOf = ({ webhookId }: T) => webhookId;
  const mayShare = ({ dueAt }: T) => dueAt <= time;
  const missed: T[] = [];
  const failed = new Set<number>();
  for (const [lane, inLane] of Map.groupBy(turns, laneOf)) {
    const jobs = inSharedJobs(inLane, { ownerOf, mayShare, most }).map(jobOf);
    for (const job of await enqueueAll(deliverWebhook, lane, jobs, failed)) missed.push(...job.turns);
  }
  return missed;
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

function jobOf<T extends DeliveryTurn>(turns: SharedJob<T>) {
  const [turn, ...others] = turns;
  const { id, webhookId, dueAt, requestId } = turn;
  return {
    turns,
    payload: {
      deliveryId: id,
      webhookId,
      dueAt: dueAt.getTime(),
      ...(turns.some(({ more }) => more) && { more: true }),
      ...(others.length > 0 && {
        others: others.map((other) => ({ deliveryId: other.id, requestId: other.requestId })),
      }),
    },
    id: sharedJobName(turns),
    at: dueAt,
    requestId,
  };
}
