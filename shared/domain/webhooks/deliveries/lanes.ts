import { now } from '../../../common/clock.ts';
import type { WaitingRow } from '../../../db/work/admission.system.ts';
import { deliverWebhook } from '../../../jobs/deliver-webhook.ts';
import { enqueueAll, readNextPayloads } from '../../../queue/queue.ts';
import { inSharedJobs, type SharedJob, sharedJobName } from '../../../work/shared-jobs.ts';

/** A delivery that is to have a job: `claims` names the turn that it is for, and so the job. */
export type DeliveryTurn = Pick<WaitingRow, 'id' | 'claims' | 'requestId' | 'dueAt'> & {
  webhookId: string;
  /** More deliveries of this webhook wait for room than could be admitted with this one. */
  more: boolean;
  /** Where a job under the usual name is not trusted to run. */
  suffix?: string;
};

/**
 * A job costs Redis and a worker about as much as the delivery itself does; from ten on, sharing it more saves little.
 */
const mostInJob = 10;

/**
 * Makes the jobs, each with what is due now of a webhook, a few at a time; what is due later has one of its own. First
 * attempts that never had to wait have a lane of their own. Returns those that Redis did not take.
 */
export function wake<T extends DeliveryTurn>(turns: T[]): Promise<T[]> {
  const time = now();
  return inLanes(turns, (inLane) =>
    inSharedJobs(inLane, {
      ownerOf: ({ webhookId }) => webhookId,
      mayShare: ({ dueAt }) => dueAt <= time,
      most: mostInJob,
    }),
  );
}

/** Makes a job for each, under a name that somebody who does the same would give it too. */
export function wakeAlone<T extends DeliveryTurn>(turns: T[]): Promise<T[]> {
  return inLanes(turns, (inLane) => inLane.map((turn): SharedJob<DeliveryTurn> => [turn]));
}

async function inLanes<T extends DeliveryTurn>(
  turns: T[],
  inJobs: (inLane: T[]) => SharedJob<DeliveryTurn>[],
): Promise<T[]> {
  const missed: T[] = [];
  for (const [lane, inLane] of Map.groupBy(turns, laneOf))
    if (!(await enqueueAll(deliverWebhook, lane, inJobs(inLane).map(jobOf)))) missed.push(...inLane);
  return missed;
}

const laneOf = ({ claims }: Pick<DeliveryTurn, 'claims'>) => (claims === 0 ? 'first' : 'retry');

/**
 * Tells whether a delivery's lane has come past the time that it is due at. Where it has not, its job still waits,
 * though perhaps under the name of another that it shares it with.
 */
export async function passedLanes(): Promise<(turn: { claims: number; dueAt: Date }) => boolean> {
  const { first, retry } = deliverWebhook.lanes;
  const [firstDue, retryDue] = await Promise.all([nextDue(first), nextDue(retry)]);
  const next = { first: firstDue, retry: retryDue };
  return (turn) => turn.dueAt.getTime() < next[laneOf(turn)];
}

/** Ahead of all that is due where nothing waits. */
async function nextDue(queueName: string): Promise<number> {
  const next = (await readNextPayloads(queueName)).map((data) => deliverWebhook.payload.safeParse(data));
  return Math.min(...next.map(({ data }) => data?.dueAt ?? Number.POSITIVE_INFINITY));
}

function jobOf(turns: SharedJob<DeliveryTurn>) {
  const [turn, ...others] = turns;
  const { id, webhookId, dueAt, requestId } = turn;
  return {
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
