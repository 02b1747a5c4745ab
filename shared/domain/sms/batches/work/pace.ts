import { setTimeout as sleep } from 'node:timers/promises';
import { forgetAtEnd } from '../../../../common/closing.ts';
import { sendSms } from '../../../../jobs/send-sms.ts';
import { findJobsInHand } from '../../../../queue/queue.ts';

/**
 * A batch gives way to single texts. A chunk of 500 rows keeps MySQL busy for as long as a single text takes from its
 * request to its gateway. So while single texts go out, chunks are smaller, and after each chunk the batch leaves the
 * database alone for three times as long as that chunk took.
 */
const [rowsAlone, rowsBesideOthers] = [500, 50];
const restByChunk = 3;
const longestPauseMs = 100;
const askEveryMs = 50;
/** Single texts take a few milliseconds each: where one was seen, more are likely to come. */
const rememberedMs = 1_000;
const { urgent, default: single } = sendSms.lanes;

const never = Number.NEGATIVE_INFINITY;
let [askedAt, seenAt] = [never, never];
forgetAtEnd(() => {
  [askedAt, seenAt] = [never, never];
});

/** Whether somebody's single texts go out at this time, by any process. */
async function areSingleTextsInHand(): Promise<boolean> {
  const time = performance.now();
  if (time - askedAt >= askEveryMs) {
    askedAt = time;
    if ((await findJobsInHand([urgent, single])) > 0) seenAt = time;
  }
  return performance.now() - seenAt < rememberedMs;
}

/** Returns the pace of a batch's next step: the most rows, and the function that rests after the step. */
export async function nextPace(): Promise<{ rows: number; rest: () => Promise<void> }> {
  if (!(await areSingleTextsInHand())) return { rows: rowsAlone, rest: async () => undefined };
  const startedAt = performance.now();
  const rest = async () => {
    await sleep(Math.min(longestPauseMs, restByChunk * (performance.now() - startedAt)));
  };
  return { rows: rowsBesideOthers, rest };
}
