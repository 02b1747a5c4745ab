import type { Job as QueuedJob } from 'bullmq';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { databaseTime, now } from '../../shared/common/clock.ts';
import { problem } from '../../shared/common/errors.ts';
import { requestId } from '../../shared/common/request-context.ts';
import { defineJob } from '../../shared/jobs/job.ts';
import type { WorkOutcome } from '../../shared/work/outcome.ts';
import { backoffMs, handle, RetryLater } from '../../workers/handle.ts';

const job = defineJob({
  name: 'weigh-parcel',
  lanes: { default: 'weigh-parcel' },
  payload: z.object({ parcelId: z.string() }),
});

/** Makes a job as BullMQ would hand it to the worker, with only the fields that are read. */
const queued = (data: object, changes: object = {}) =>
  ({
    id: 'job-1',
    name: 'weigh-parcel',
    timestamp: databaseTime().getTime(),
    attemptsMade: 0,
    data,
    ...changes,
  }) as unknown as QueuedJob;
const process = (run: () => Promise<WorkOutcome>, data: object = { parcelId: 'p' }, changes: object = {}) =>
  handle(job, { concurrency: 1 }, run).process(queued(data, changes));
const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000);

test('work that is over, or was somebody else’s, ends the job', async () => {
  await expect(process(async () => 'done')).resolves.toBeUndefined();
  await expect(process(async () => 'dropped')).resolves.toBeUndefined();
});

test('work that goes on soon goes into the backoff until then, to the millisecond', async () => {
  const retryAt = inSeconds(300);
  const error = await process(async () => ({ retryAt })).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RetryLater);
  expect((error as RetryLater).at).toEqual(retryAt);
  const before = now().getTime();
  const waitMs = backoffMs(1, 'custom', error as Error);
  // The backoff adds one millisecond, so that the job never comes too early.
  expect(waitMs).toBeLessThanOrEqual(retryAt.getTime() - before + 1);
  expect(waitMs).toBeGreaterThanOrEqual(retryAt.getTime() - now().getTime() + 1);
});

test('work that goes on much later leaves Redis', async () => {
  await expect(process(async () => ({ retryAt: inSeconds(7_200) }))).resolves.toBeUndefined();
});

test('a time that has passed is tried again at once, never before now', () => {
  expect(backoffMs(1, 'custom', new RetryLater(inSeconds(-60)))).toBe(1);
});

test('a fault of ours is tried again in a second, as often as it takes', async () => {
  for (const thrown of [new Error('bug'), problem('service_unavailable')]) {
    const error = await process(() => Promise.reject(thrown)).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RetryLater);
    expect(backoffMs(1_000, 'custom', error as Error)).toBeLessThanOrEqual(1_002);
  }
  expect(backoffMs(5, 'custom', new Error('stalled'))).toBe(1_000);
});

const strangers: [data: object, changes: object][] = [
  [{}, {}],
  [{ parcelId: 7 }, {}],
  [{ parcel: 'p' }, {}],
  [{ parcelId: 'p' }, { name: 'weigh-parcel-twice' }],
];

test('a job that this version does not understand waits for one that does, and is not worked on', async () => {
  for (const [data, changes] of strangers) {
    const left = process(() => Promise.reject(new Error('worked on')), data, changes);
    const error = await left.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RetryLater);
    const waitMs = backoffMs(1, 'custom', error as Error);
    expect([waitMs > 3_000, waitMs < 10_000]).toEqual([true, true]);
  }
});

test('one that nobody has understood for an hour is dropped', async () => {
  for (const [data, changes] of strangers) {
    const old = { ...changes, timestamp: databaseTime().getTime() - 3_660_000 };
    await process(() => Promise.reject(new Error('worked on')), data, old);
  }
});

test('what a newer version adds to a payload does no harm', async () => {
  let runs = 0;
  await process(
    async () => {
      runs += 1;
      return 'done';
    },
    { parcelId: 'p', weighedBy: { name: 'b' } },
  );
  expect(runs).toBe(1);
});

test('the work runs as part of the request that caused it', async () => {
  const seen: (string | null)[] = [];
  const note = async (): Promise<WorkOutcome> => {
    seen.push(requestId());
    return 'done';
  };
  await process(note, { parcelId: 'p', requestId: 'request-7' });
  await process(note, { parcelId: 'p', requestId: null });
  expect(seen).toEqual(['request-7', 'job-job-1']);
});
