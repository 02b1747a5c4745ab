import { setTimeout as sleep } from 'node:timers/promises';
import { forgetAtEnd } from '../../../../common/closing.ts';
import { sendSms } from '../../../../jobs/send-sms.ts';
import { findJobsWaiting, findRunnableJobs } from '../../../../queue/queue.ts';

/**
 * Single texts have priority over batches. A chunk of 500 rows keeps MySQL busy for as long as a single text takes from
 * its request to its gateway. So while single texts are sent, chunks are smaller, and after each chunk the batch pauses
 * for a multiple of the time that the chunk took.
 */
const [rowsAlone, rowsBesideOthers] = [500, 50];
const rests = {
  short: { byChunk: 3, longestMs: 100 },
  /** While texts of batches wait for workers, more of them would only wait longer. */
  long: { byChunk: 10, longestMs: 500 },
};
/** With more jobs of batches than this in Redis that no worker has taken, the workers have enough to do for a while. */
const enoughJobs = 20;
const askEveryMs = 50;
/** Single texts take a few milliseconds each: where one was seen, more are likely to come. */
const rememberedMs = 1_000;
const { urgent, default: single, bulk } = sendSms.lanes;

const never = Number.NEGATIVE_INFINITY;
let [askedAt, singlesSeenAt, isBulkWaiting] = [never, never, false];
forgetAtEnd(() => {
  [askedAt, singlesSeenAt, isBulkWaiting] = [never, never, false];
});

/** Finds out whether somebody's single texts go out at this time, by any process, and whether texts of batches wait. */
async function readQueues(): Promise<void> {
  const time = performance.now();
  if (time - askedAt < askEveryMs) return;
  askedAt = time;
  const [singles, ofBatches] = await Promise.all([
    findRunnableJobs([urgent, single]),
    findJobsWaiting([bulk]),
  ]);
  if (singles > 0) singlesSeenAt = time;
  isBulkWaiting = ofBatches > enoughJobs;
}

/** Returns the pace of a batch's next step: the most rows, and the function that rests after the step. */
export async function nextPace(): Promise<{ rows: number; rest: () => Promise<void> }> {
  await readQueues();
  const startedAt = performance.now();
  if (startedAt - singlesSeenAt >= rememberedMs) return { rows: rowsAlone, rest: async () => undefined };
  const { byChunk, longestMs } = isBulkWaiting ? rests.long : rests.short;
  const rest = async () => {
    await sleep(Math.min(longestMs, byChunk * (performance.now() - startedAt)));
  };
  return { rows: rowsBesideOthers, rest };
}
