import { beforeAll, beforeEach, expect, test } from 'vitest';
import { query, transaction } from '../../../shared/db/client.ts';
import { insertSms, type SmsRecord } from '../../../shared/db/sms/messages.ts';
import { admit, refill } from '../../../shared/domain/sms/delivery/admission.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { sendSms as sendSmsJob } from '../../../shared/jobs/send-sms.ts';
import { enqueueAll, queueOf } from '../../../shared/queue/queue.ts';
import { type SmsLane, smsLanes } from '../../../shared/schemas/lanes.ts';
import type { TextMessage } from '../../../shared/transports/sms.ts';
import { jobName } from '../../../shared/work/job-name.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

// Not one of the simulator's numbers, so the text goes to the gateway.
const recipient = '+447407000001';

type Own = Awaited<ReturnType<typeof textingWorkspace>>;
let api: Client;
let gateway: ReturnType<typeof useTextGateway>;
let own: Own;
let like: SmsRecord;

beforeAll(async () => {
  api = await startApi();
  gateway = useTextGateway();
});
// Rows that one test leaves waiting would count in the next.
beforeEach(async () => {
  changeSettings({ SMS_JOBS_PER_WORKSPACE: 40, SMS_CONCURRENCY: 40 });
  gateway.taken.length = 0;
  gateway.says = gateway.works;
  own = await textingWorkspace();
  const { id } = await sendSms(api, own, { recipient });
  like = { ...(await smsOf(own, id)), lineageId: null, parked: false };
  await query('TRUNCATE TABLE sms_messages');
  // The job of that text is made after its request has been answered.
  await waitFor('its job', () => queueOf(sendSmsJob.lanes.default).getJob(`${id}-1`));
  await forgetRedis();
});

/** Stores `count` texts of a lane in one transaction, as a batch does. */
function store(from: Own, lane: SmsLane, count: number, { parked = false } = {}): Promise<SmsRecord[]> {
  return transaction(async () => {
    const stored: SmsRecord[] = [];
    for (let index = 0; index < count; index += 1) {
      const at = new Date(like.createdAt.getTime() - 1_000 + index);
      const admitted = admit({
        ...like,
        id: newId('sms', at),
        workspaceId: from.workspaceId,
        lane,
        content: `${lane} ${index}`,
        createdAt: at,
        dueAt: at,
        parked,
      });
      await insertSms(from.workspaceId, admitted);
      stored.push(admitted);
    }
    return stored;
  });
}

async function countsOf(
  from: Own,
  lane: SmsLane,
): Promise<{ inRedis: number; parked: number; sent: number }> {
  const [row] = await query(
    `SELECT COUNT(IF(status = 'queued' AND parked = 0, 1, NULL)) AS in_redis,
       COUNT(IF(status = 'queued' AND parked = 1, 1, NULL)) AS parked, COUNT(IF(status = 'sent', 1, NULL)) AS sent
     FROM sms_messages WHERE workspace_id = ? AND lane = ?`,
    [idToBytes(from.workspaceId), lane],
  );
  return { inRedis: Number(row!['in_redis']), parked: Number(row!['parked']), sent: Number(row!['sent']) };
}

async function jobsOf(lane: SmsLane): Promise<number> {
  return queueOf(sendSmsJob.lanes[lane]).count();
}

test.each(smsLanes)('a text of the lane %s waits in a queue of its own, with ids only', async (lane) => {
  const [text] = await store(own, lane, 1);
  const job = await waitFor('it comes in', () => queueOf(sendSmsJob.lanes[lane]).getJob(`${text!.id}-1`));
  expect(job.data).toMatchObject({ smsId: text!.id, workspaceId: own.workspaceId });
  expect(Object.keys(job.data).toSorted()).toEqual(['requestId', 'smsId', 'workspaceId']);
});

test('Redis holds no more of a workspace than its share; the texts themselves bring on the rest, in order', async () => {
  await store(own, 'bulk', 300);
  await waitFor('the room to be full', async () => (await countsOf(own, 'bulk')).inRedis === 40);
  await recovery.sweep();
  await recovery.sweep();
  expect(await countsOf(own, 'bulk')).toMatchObject({ inRedis: 40, parked: 260 });
  expect(await jobsOf('bulk')).toBe(40);

  const workers = await runWorkers(['send-sms']);
  const seen: number[] = [];
  await waitFor('all are sent', async () => {
    const { inRedis, sent } = await countsOf(own, 'bulk');
    seen.push(inRedis);
    return sent === 300;
  });
  await workers.stop();
  expect(Math.max(...seen)).toBeLessThanOrEqual(40);
  const numbers = gateway.taken.map(({ content }) => Number(content.split(' ')[1]));
  expect(new Set(numbers).size).toBe(300);
  expect(numbers).toHaveLength(300);
  // Texts that are let in together come in any order.
  numbers.forEach((number, place) => expect(Math.abs(number - place)).toBeLessThanOrEqual(100));
});

test('texts that are let in together share jobs; one that the gateway wants later is tried again alone', async () => {
  await store(own, 'bulk', 35, { parked: true });
  await recovery.sweep();
  expect(await countsOf(own, 'bulk')).toMatchObject({ inRedis: 35, parked: 0 });
  expect(await jobsOf('bulk')).toBe(4);

  let asked = 0;
  gateway.says = () => {
    asked += 1;
    return asked === 3 ? Promise.resolve({ kind: 'later', detail: 'Busy' }) : gateway.works();
  };
  const workers = await runWorkers(['send-sms']);
  await waitFor('the others are sent', async () => (await countsOf(own, 'bulk')).sent === 34);
  // The delayed text is due now, and gets its own job.
  await forgetRedis();
  await query("UPDATE sms_messages SET due_at = ?, parked = 1 WHERE status = 'queued' AND retries = 1", [
    like.createdAt,
  ]);
  await recovery.sweep();
  await waitFor('it is sent, too', async () => (await countsOf(own, 'bulk')).sent === 35);
  await workers.stop();
  const times = Map.groupBy(gateway.taken, ({ content }) => content);
  expect(times.size).toBe(35);
  expect(gateway.taken).toHaveLength(36);
});

test('a text that is let in alone by one process does not take the job from those that another lets in with it', async () => {
  const texts = await store(own, 'bulk', 10, { parked: true });
  // Two processes that do this at once group the texts in two ways, as one of them saw fewer rows.
  await enqueueAll(sendSmsJob, 'bulk', [
    {
      id: jobName(texts[0]!),
      payload: { smsId: texts[0]!.id, workspaceId: own.workspaceId },
      at: null,
      requestId: null,
    },
  ]);
  expect(await refill('bulk', [own.workspaceId], 'sweep')).toMatchObject({ admitted: 10 });
  const jobs = await queueOf(sendSmsJob.lanes.bulk).getJobs(['waiting', 'prioritized']);
  const turns = jobs.flatMap(({ data }) => [
    data.smsId,
    ...(data.others ?? []).map(({ smsId }: { smsId: string }) => smsId),
  ]);
  expect(new Set(turns)).toEqual(new Set(texts.map(({ id }) => id)));
  const workers = await runWorkers(['send-sms']);
  // No sweep runs here.
  await waitFor('all are sent', async () => (await countsOf(own, 'bulk')).sent === 10);
  expect(gateway.taken).toHaveLength(10);
  await workers.stop();
});

test('a backlog leaves the room of other workspaces, and of its own other lanes, alone', async () => {
  const other = await textingWorkspace();
  await store(own, 'bulk', 100);
  const single = await sendSms(api, own, { recipient });
  await store(other, 'bulk', 30);
  await waitFor('the backlog to have its room', async () => (await countsOf(own, 'bulk')).inRedis === 40);
  await waitFor('all of the other are in', async () => (await countsOf(other, 'bulk')).inRedis === 30);
  expect((await smsOf(own, single.id)).parked).toBe(false);
  expect(await jobsOf('default')).toBe(1);
});

test('a single text passes the batches of its own workspace and of others that are going out', async () => {
  changeSettings({ SMS_JOBS_PER_WORKSPACE: 500, SMS_CONCURRENCY: 20 });
  const other = await textingWorkspace();
  const many = 300;
  await store(other, 'bulk', many);
  const bulk = (): TextMessage[] => gateway.taken.filter(({ content }) => content.startsWith('bulk'));
  const workers = await runWorkers(['send-sms', 'sweep']);
  await waitFor('the batch goes out', () => bulk().length > 0);
  const passedBy: number[] = [];
  for (const from of [own, other, own, other]) {
    const content = `single ${passedBy.length}`;
    const ahead = bulk().length;
    if (ahead === many) break;
    await sendSms(api, from, { recipient, content });
    await waitFor('the single one goes out', () => gateway.taken.some((taken) => taken.content === content));
    passedBy.push(bulk().length - ahead);
  }
  await waitFor('all of the batch are out', () => bulk().length === many);
  await workers.stop();
  expect(passedBy.length).toBeGreaterThan(1);
  // The bound covers the texts that the lane is sending, and those that go out while the single one is accepted and
  // claimed.
  expect(Math.max(...passedBy)).toBeLessThan(150);
});

test('texts of a workspace that may not send keep their place, without a job, until it may', async () => {
  const texts = await store(own, 'default', 10);
  await waitFor('the jobs are in Redis', async () => (await jobsOf('default')) === 10);
  await workspaces.change(own.workspaceId, { sendingBlocked: true });
  const workers = await runWorkers(['send-sms', 'sweep']);
  await waitFor('they are given back', async () => (await countsOf(own, 'default')).parked === 10);
  expect(gateway.taken).toEqual([]);
  const { dueAt, claims } = await smsOf(own, texts[3]!.id);
  expect([dueAt, claims]).toEqual([texts[3]!.dueAt, 0]);
  await workspaces.change(own.workspaceId, { sendingBlocked: false });
  await waitFor('all go out', async () => (await countsOf(own, 'default')).sent === 10);
  await workers.stop();
  expect(gateway.taken).toHaveLength(10);
});

test('jobs that Redis forgets are made again, in each lane', async () => {
  for (const lane of smsLanes) await store(own, lane, 5);
  await waitFor('the jobs are in Redis', async () => (await jobsOf('bulk')) === 5);
  await forgetRedis();
  const workers = await runWorkers(['send-sms', 'sweep']);
  for (const lane of smsLanes)
    await waitFor(`all of ${lane} are sent`, async () => (await countsOf(own, lane)).sent === 5);
  await workers.stop();
  expect(gateway.taken).toHaveLength(15);
});
