import type { z } from 'zod';
import { config } from '../../../config/config.ts';
import type { sendSms } from '../../../jobs/send-sms.ts';
import type { SmsLane } from '../../../schemas/lanes.ts';
import type { WorkOutcome } from '../../../work/outcome.ts';
import { workOnEach } from '../../../work/shared-jobs.ts';
import { againIn, againMs } from '../../../work/turns.ts';
import { textsPerJob, turns } from './admission.ts';
import { attempt } from './attempt.ts';

const takeTurn = turns(() => config.SMS_CONCURRENCY, { default: 0.5, bulk: 0.1 });

/**
 * Returns how many jobs of a lane a process takes. Jobs of the lane `bulk` hold several texts: 1.5 texts for each slot
 * are taken, so that some wait for a slot.
 */
export function jobConcurrency(lane: SmsLane): number {
  return lane === 'bulk' ? Math.ceil((1.5 * config.SMS_CONCURRENCY) / textsPerJob) : config.SMS_CONCURRENCY;
}

type SmsTurn = z.infer<typeof sendSms.payload>;

/** Gives each text of a job a turn of its own: an attempt, as soon as the workspace has a slot. */
export async function deliver(
  lane: SmsLane,
  { smsId, workspaceId, others = [] }: SmsTurn,
  isStalled = false,
): Promise<WorkOutcome> {
  const isAlone = others.length === 0;
  const deliverOne = (id: string) =>
    takeTurn({ lane, ownerId: workspaceId, id }, () => attempt(id, { lane, isAlone, isStalled }));
  const rest = others.map((other) => ({ id: other.smsId, requestId: other.requestId }));
  const { outcomes, fault } = await workOnEach(smsId, rest, deliverOne);
  if (fault) throw fault;
  // Texts that had their turn are found done when the job comes again.
  if (outcomes.includes(null)) return againIn(againMs);
  return isAlone ? outcomes[0]! : 'done';
}
