import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import { type SmsLane, smsLanes } from '../../schemas/lanes.ts';
import type { Outcome } from '../../work/outcome.ts';
import { turns } from '../../work/turns.ts';
import { refill } from './admission.ts';
import { attempt } from './attempt.ts';

/** Sent back to Redis, a text is looked at again after so long. */
const againMs = 500;

const takeTurn = turns({
  lanes: smsLanes,
  slots: () => config.SMS_CONCURRENCY,
  keptBesideOthers: { urgent: 1, default: 0.5, bulk: 0.1 },
  window: () => config.SMS_JOBS_PER_WORKSPACE,
  refill,
});

type Turn = { smsId: string; workspaceId?: string | undefined };

/** A text's turn: an attempt as soon as its workspace has a slot. */
export async function deliver(lane: SmsLane, { smsId, workspaceId }: Turn): Promise<Outcome> {
  const turn = { lane, rowLane: lane, ownerId: workspaceId, id: smsId };
  const outcome = await takeTurn(turn, () => attempt(smsId));
  return outcome ?? { retryAt: new Date(now().getTime() + againMs) };
}
