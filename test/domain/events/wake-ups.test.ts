import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { wakeRelay } from '../../../shared/domain/events/events.ts';
import { relayEvents } from '../../../shared/jobs/relay-events.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { useDatabase } from '../../support/database/database.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

/** Longer than the pause between two wake-ups of a process. */
const pauseMs = 20;

test('where a thousand wake-ups wait for the relay, no more are added', async () => {
  const queue = queueOf(relayEvents.lanes.default);
  onTestFinished(() => queue.drain());
  const waiting = () => queue.getJobCountByTypes('waiting');
  await queue.drain();
  wakeRelay();
  await waitFor('a wake-up is added to an empty queue', async () => (await waiting()) > 0);
  await queue.addBulk(Array.from({ length: 1_001 }, () => ({ name: relayEvents.name, data: {} })));
  await waitFor('wake-ups are left out', async () => {
    const before = await waiting();
    wakeRelay();
    await sleep(pauseMs);
    return (await waiting()) === before;
  });
  expect(await waiting()).toBeLessThan(1_500);
  await queue.drain();
  await waitFor('wake-ups are added again', async () => {
    wakeRelay();
    return (await waiting()) > 0;
  });
});
