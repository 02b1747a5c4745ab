import { beforeEach, expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { config } from '../../shared/config/config.ts';
import { query } from '../../shared/db/client.ts';
import { wake } from '../../shared/domain/webhooks/deliveries/lanes.ts';
import * as recovery from '../../shared/domain/work/recovery.ts';
import { newId } from '../../shared/formats/ids.ts';
import { deliverWebhook } from '../../shared/jobs/deliver-webhook.ts';
import { sendEmail } from '../../shared/jobs/send-email.ts';
import { partitionOf, partitions, prefixOf } from '../../shared/queue/partitions.ts';
import { findRedisFault, producerConnection, queueOf } from '../../shared/queue/queue.ts';
import { acceptMany } from '../support/data/email-rows.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';
import { deleteKeys } from '../support/database/drop-databases.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

async function forgetPartitions(): Promise<void> {
  for (const partition of partitions()) await deleteKeys(config.REDIS_URL, prefixOf(partition));
}
beforeEach(async () => {
  changeSettings({ QUEUE_PARTITIONS: 2 });
  await waitFor('Redis takes jobs', async () => (await findRedisFault()) === null);
  return forgetPartitions;
});

async function jobsIn(partition: number, queueName: string): Promise<string[]> {
  const jobs = await queueOf(queueName, partition).getJobs(['waiting', 'delayed', 'prioritized']);
  return jobs.map(({ id }) => id!);
}
const areParked = (emails: Awaited<ReturnType<typeof acceptMany>>) =>
  Promise.all(emails.map(async ({ read }) => (await read()).parked));
/** Makes a partition of a queue refuse new jobs, like a node that is out of order. */
const refuseJobs = (partition: number, queueName: string) =>
  producerConnection().set(`${prefixOf(partition)}:${queueName}:meta`, 'not a hash');

// Shows F40
test.each([0, 1])(
  'while partition %i refuses jobs, the sweep makes all of them in the other one',
  async (broken) => {
    const queueName = sendEmail.lanes.transactional;
    const emails = (await Promise.all([1, 2].map(async () => acceptMany(await workspace(), 30)))).flat();
    const jobs = async () => [...(await jobsIn(0, queueName)), ...(await jobsIn(1, queueName))];
    await waitFor('all have their jobs', async () => (await jobs()).length === emails.length);
    await forgetPartitions();
    await refuseJobs(broken, queueName);
    await query('UPDATE emails SET parked = 1');
    await recovery.sweep();

    const names = emails.map(({ id }) => `${id}-1`);
    expect(new Set(names.map((name) => partitionOf(name))).size).toBe(2);
    expect(await jobsIn(1 - broken, queueName)).toEqual(expect.arrayContaining(names));
    expect(await areParked(emails)).toEqual(emails.map(() => false));
  },
);

// Shows F40
test('deliveries are missed only where every partition refuses them', async () => {
  await refuseJobs(0, deliverWebhook.lanes.first);
  const turns = Array.from({ length: 20 }, () => ({
    id: newId('delivery', now()),
    ownerId: newId('webhook', now()),
    claims: 0,
    requestId: null,
    dueAt: now(),
  }));
  expect(await wake(turns)).toEqual([]);
  expect(await jobsIn(1, deliverWebhook.lanes.first)).toHaveLength(turns.length);
  await refuseJobs(1, deliverWebhook.lanes.first);
  expect((await wake(turns)).map(({ id }) => id).toSorted()).toEqual(turns.map(({ id }) => id).toSorted());
});
