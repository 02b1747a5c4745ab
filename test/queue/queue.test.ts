import { expect, onTestFinished, test, vi } from 'vitest';
import { databaseTime, now } from '../../shared/common/clock.ts';
import { sendEmail } from '../../shared/jobs/send-email.ts';
import { sweep } from '../../shared/jobs/sweep.ts';
import { enqueue, enqueueAll, enqueueRepeating, queueOf } from '../../shared/queue/queue.ts';
import { useDatabase } from '../support/database/database.ts';
import { shiftClock } from '../support/time/shift-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

test("a job is due by the platform's time, however wrong the clock of the process that adds it is", async () => {
  const dueAt = new Date(now().getTime() + 40_000);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  for (const at of await addBothWays('dated', dueAt))
    expect(Math.abs(at - dueAt.getTime())).toBeLessThan(1_000);
});

test('where a test has shifted the time, a job waits as long by the clocks of machines, which BullMQ goes by', async () => {
  onTestFinished(() => shiftClock(0));
  for (const shiftMs of [3_600_000, -3_600_000]) {
    await shiftClock(shiftMs);
    const dueAt = databaseTime().getTime() + 40_000;
    const times = await addBothWays(`shifted${shiftMs}`, new Date(now().getTime() + 40_000));
    for (const at of times) expect(Math.abs(at - dueAt)).toBeLessThan(1_000);
  }
});

test('while no process takes the runs of a repeating job, only a few of them wait', async () => {
  onTestFinished(() => shiftClock(0));
  for (let period = 0; period < 100; period += 1) {
    await shiftClock(period * 10_000);
    await enqueueRepeating(sweep, 10);
  }
  const waiting = await queueOf(sweep.lanes.default).getWaitingCount();
  expect(waiting).toBeGreaterThan(0);
  expect(waiting).toBeLessThan(5);
});

/** Adds one job alone and one in a bulk call; returns when BullMQ will start each of them, in ms. */
async function addBothWays(id: string, dueAt: Date): Promise<number[]> {
  const lane = 'transactional';
  enqueue(sendEmail, { emailId: 'one' }, { lane, id, at: dueAt });
  const others = [{ payload: { emailId: 'two' }, id: `${id}-too`, at: dueAt, requestId: null }];
  await enqueueAll(sendEmail, lane, others);
  const jobs = [id, `${id}-too`].map((each) =>
    waitFor(`the job ${each}`, () => queueOf(sendEmail.lanes[lane]).getJob(each)),
  );
  return (await Promise.all(jobs)).map((job) => job.timestamp + job.delay);
}
