import { now, nowForAll } from '../../../../common/clock.ts';
import { Problem } from '../../../../common/errors.ts';
import { logger } from '../../../../common/logger.ts';
import { claimBatch } from '../../../../db/sms/batches/batches.system.ts';
import type { SmsBatchRecord } from '../../../../db/sms/batches/batches.ts';
import type { BatchLane } from '../../../../schemas/lanes.ts';
import type { WorkOutcome } from '../../../../work/outcome.ts';
import { againIn, againMs } from '../../../../work/turns.ts';
import { isCrashLoop, logGivenUp } from '../../../work/crash-loops.ts';
import { checkAgain } from '../pause.ts';
import { SandboxBusy } from '../render.ts';
import { turns } from './admission.ts';
import { type Chunks, openChunks } from './chunks.ts';
import { expand, Spent } from './expand.ts';
import { follow } from './follow.ts';
import { type BatchLease, type BatchProgress, leaseEnd, release } from './held.ts';
import { nextPace } from './pace.ts';
import { stop } from './stop.ts';

/**
 * A batch's turn ends after this time, so that other batches get their turns, and a worker that is to stop need not
 * wait long.
 */
const turnMs = 200;
/**
 * If more workers than this have died while they held a batch, its rows are taken one by one, because one of them may
 * be the cause.
 */
const fewLost = 2;

const takeTurn = turns(() => 4, { follow: 0.5 });

type Payload = { batchId: string; workspaceId: string };

/** Gives a batch its turn, as soon as its workspace has a slot. */
export async function workOn(lane: BatchLane, { batchId, workspaceId }: Payload): Promise<WorkOutcome> {
  const turn = { lane, ownerId: workspaceId, id: batchId };
  return (await takeTurn(turn, () => attempt(batchId))) ?? againIn(againMs);
}

/** Works on a batch for one turn. Each step commits together with the position that the batch has reached. */
export async function attempt(batchId: string): Promise<WorkOutcome> {
  const claimed = await claimBatch({ id: batchId, at: nowForAll(), until: leaseEnd() });
  if (!claimed) return 'dropped';
  const hold = { batchId, token: claimed.token };
  const lost = claimed.batch.claims - 1 - claimed.batch.retries;
  const isOneByOne = lost > fewLost;
  let givesUp = isCrashLoop(lost);
  if (givesUp && claimed.batch.expanding) logGivenUp('batch_row', { batchId });
  const end = performance.now() + turnMs;
  const isTurn = () => performance.now() < end;
  // While rows are taken one by one, no chunk is made ahead: when a worker dies, only the batch's next row can be the
  // cause.
  const goesOn = () => !isOneByOne && isTurn();
  const chunks = openChunks();
  try {
    let batch: BatchProgress = claimed.batch;
    while (batch && (isTurn() || chunks.isNextBegun())) {
      const at: number = batch.nextPosition;
      const { rows, rest } = await nextPace();
      batch = await step(hold, batch, chunks, { size: isOneByOne ? 1 : rows, givesUp, goesOn });
      if (batch && batch.nextPosition > at) givesUp = false;
      await rest();
    }
    if (batch) await release(hold, now());
    return 'done';
  } catch (error) {
    if (!(error instanceof SandboxBusy || error instanceof Spent)) throw await givenBack(hold, error);
    await release(hold, againIn(againMs).retryAt);
    return 'done';
  } finally {
    await chunks.close();
  }
}

/**
 * Releases a batch after a fault, so that its work continues soon. While the database is away, it continues when the
 * lease has ended.
 */
async function givenBack(hold: BatchLease, error: unknown): Promise<unknown> {
  // A fault of ours that comes again and again counts like a batch that kills workers.
  const isFault = !(error instanceof Problem);
  await release(hold, againIn(againMs).retryAt, { isFault }).catch((err: unknown) =>
    logger.debug({ err, batchId: hold.batchId }, 'a batch is left until its lease ends'),
  );
  return error;
}

function step(
  hold: BatchLease,
  batch: SmsBatchRecord,
  chunks: Chunks,
  wanted: Parameters<typeof expand>[3],
): Promise<BatchProgress> {
  if (batch.state === 'cancelled') return stop(hold, batch);
  if (batch.state === 'paused') return checkAgain(hold, batch);
  return batch.expanding ? expand(hold, batch, chunks, wanted) : follow(hold);
}
