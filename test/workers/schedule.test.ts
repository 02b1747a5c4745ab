import { afterEach, expect, test } from 'vitest';
import { jobs } from '../../shared/jobs/index.ts';
import { readQueueDepths } from '../../shared/queue/queue.ts';
import { schedule, startSchedule } from '../../workers/schedule.ts';
import { forgetRedis, useDatabase } from '../support/database/database.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();
afterEach(forgetRedis);

const waiting = async () => {
  const depths = (await readQueueDepths())!;
  return depths.filter(({ state, jobs }) => state === 'waiting' && jobs > 0).map(({ queue }) => queue);
};

test('a process that runs all jobs adds a run of each repeating job', async () => {
  const started = startSchedule(jobs);
  try {
    await waitFor('all of them wait', async () => (await waiting()).length === schedule.length);
  } finally {
    started.stop();
  }
});

test('a process adds runs of the jobs that it runs itself, and of no others', async () => {
  const own = schedule.filter(({ job }) => job.name !== 'sweep').map(({ job }) => job);
  const started = startSchedule(own);
  try {
    // The sweep would be the first to be added.
    await waitFor('they wait', async () => (await waiting()).length >= own.length);
  } finally {
    started.stop();
  }
  expect((await waiting()).toSorted()).toEqual(own.map(({ name }) => name).toSorted());
});
