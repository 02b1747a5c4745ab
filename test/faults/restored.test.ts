// @slow: it starts, stops and breaks processes of the platform.
import { expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { query } from '../../shared/db/client.ts';
import { relayAll } from '../../shared/domain/events/relay.ts';
import * as operations from '../../shared/domain/operations/operations.ts';
import { readQueueDepths } from '../../shared/queue/queue.ts';
import { closeSmtp } from '../../shared/transports/smtp.ts';
import { schedule } from '../../workers/schedule.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { countsOf, makeWebhook, storeEvents } from '../support/data/deliveries.ts';
import { eventData } from '../support/data/event-data.ts';
import { workspace } from '../support/data/factory.ts';
import { newEmail, sendEmail } from '../support/data/new-email.ts';
import { backUpMysql, backUpRedis } from '../support/database/backup.ts';
import { useDatabase } from '../support/database/database.ts';
import { startWorkerProcess } from '../support/processes/processes.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { type ReceivedMessage, type SmtpSink, startSmtpSink } from '../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { advanceClock } from '../support/time/advance-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

const minuteMs = 60_000;
/** Queues of the repeating jobs, which come and go. */
const repeating = schedule.map(({ job }) => Object.values<string>(job.lanes)[0]!);
type Own = Awaited<ReturnType<typeof workspace>>;

const isAbout = (subject: string) => (message: ReceivedMessage) =>
  message.raw.includes(`Subject: ${subject}\r\n`);
const messageIdOf = ({ raw }: ReceivedMessage) => /^Message-ID: (.*)\r$/im.exec(raw.toString())![1];

async function feedAfter(api: Client, own: Own, cursor: string) {
  return api.request('GET', `/v2/events?limit=1000&cursor=${cursor}`, { key: own.key });
}

async function cursorNow(api: Client, own: Own): Promise<string> {
  const answer = await api.request('GET', '/v2/events?limit=1000', { key: own.key });
  return answer.body.nextCursor;
}

function once(api: Client, own: Own, key: string) {
  const headers = { 'idempotency-key': key };
  return api.request('POST', '/v2/email', { key: own.key, headers, body: newEmail(own, { subject: key }) });
}

/** Leads the emails of this process, and of processes that start from now on, to the sink. */
async function relayTo({ url }: SmtpSink): Promise<void> {
  changeSettings({ SMTP_URL: url });
  await closeSmtp();
}

/** Waits until nothing is due and only jobs for a later time are left; checks that no worker reports an error. */
async function comesToRest(worker: { output: () => string }): Promise<void> {
  await waitFor('the system is at rest', async () => {
    const { oldestDueSeconds } = await operations.overview();
    expect(Object.entries(oldestDueSeconds).filter(([, seconds]) => seconds > 0)).toEqual([]);
    const jobs = (await readQueueDepths())!.filter(
      ({ jobs: count, state }) => count > 0 && state !== 'delayed',
    );
    expect(jobs.filter(({ queue }) => !repeating.includes(queue))).toEqual([]);
    return true;
  });
  expect(worker.output()).not.toMatch(/failed unexpectedly|no worker understands/);
}

// Shows F26
test('MySQL goes back ten minutes and Redis does not: what was lost is gone, what comes back is done, and no reader misses an event', async () => {
  const [own, sink] = await Promise.all([workspace(), startSmtpSink()]);
  const receiver = await startWebhookReceiver({ respond: { status: 500 } });
  const webhook = await makeWebhook(own, receiver.url, ['email.queued']);
  await relayTo(sink);
  const api = await startApi();
  const read = async (id: string) => api.request('GET', `/v2/email/${id}`, { key: own.key });

  // Before the backup: one email done, whose delivery fails at first; one that waits for its time; one that is due.
  let workers = await runWorkers();
  expect((await once(api, own, 'key-before')).status).toBe(201);
  const inTime = new Date(now().getTime() + 14 * minuteMs).toISOString();
  await waitFor('it has been sent', () => sink.messages.some(isAbout('key-before')));
  await waitFor('its delivery has failed', () => receiver.requests.length === 1);
  await waitFor('all of it is in the feed', async () => {
    const { body } = await api.request('GET', '/v2/events?types=email.sent', { key: own.key });
    return body.data.length === 1;
  });
  await workers.stop();
  const scheduled = await sendEmail(api, own, { subject: 'scheduled', scheduledAt: inTime });
  const due = await sendEmail(api, own, { subject: 'due' });
  const readBefore = await cursorNow(api, own);
  const backup = await backUpMysql();

  // The ten minutes that will be lost.
  receiver.respondWith({ status: 200 });
  workers = await runWorkers();
  await advanceClock(8 * minuteMs);
  const inVain = await once(api, own, 'key-lost');
  expect(inVain.status).toBe(201);
  expect((await api.request('DELETE', `/v2/email/${scheduled.id}`, { key: own.key })).status).toBe(200);
  for (let count = 0; count < 10; count += 1) await sendEmail(api, own, { subject: `lost ${count}` });
  await waitFor('all are sent', () => sink.messages.length === 13);
  await waitFor('all is delivered', async () => receiver.requests.length >= 15);
  const readLater = await cursorNow(api, own);
  await workers.stop();
  // After the restore, the jobs of these emails are in Redis but their rows are gone from MySQL.
  const orphans = [
    await sendEmail(api, own, { subject: 'orphan' }),
    await sendEmail(api, own, { subject: 'late orphan', scheduledAt: inTime }),
  ];
  await advanceClock(2 * minuteMs);
  const lostRequests = receiver.requests.length;
  const [lostCopy] = sink.messages.filter(isAbout('due'));

  await backup.restore();
  const worker = await startWorkerProcess();
  await waitFor('the due email is sent again', () => sink.messages.filter(isAbout('due')).length === 2);
  expect(messageIdOf(sink.messages.filter(isAbout('due'))[1]!)).toBe(messageIdOf(lostCopy!));
  // The delivery is made again, with the same id and bytes.
  const attempts = () => receiver.requests.filter(({ body }) => body.includes('"subject":"key-before"'));
  await waitFor('the delivery is made again', () => attempts().length === 3);
  expect(
    new Set(attempts().map(({ headers, body }) => `${headers['webhook-id']} ${body.toString()}`)).size,
  ).toBe(1);
  expect(receiver.requests.length).toBeGreaterThan(lostRequests);
  await comesToRest(worker);

  // A lost record is unknown. The key of a lost request does the work anew; the key of a kept request gets a replay.
  for (const { id } of [...orphans, { id: inVain.body.id }]) expect((await read(id)).status).toBe(404);
  const replayed = await once(api, own, 'key-before');
  const repeated = await once(api, own, 'key-lost');
  expect([replayed.headers['idempotent-replayed'], repeated.headers['idempotent-replayed']]).toEqual([
    'true',
    undefined,
  ]);
  expect(repeated.body.id).not.toBe(inVain.body.id);

  // A cursor from the lost time is refused with 410, also when its position has been given to other events.
  const refused = async () => {
    const { status, body } = await feedAfter(api, own, readLater);
    expect([status, body.type, body.detail]).toEqual([
      410,
      `${api.url}/problems/cursor_expired`,
      expect.stringContaining('restored from a backup'),
    ]);
  };
  await refused();
  for (let count = 0; count < 25; count += 1) await sendEmail(api, own, { subject: `new ${count}` });
  await waitFor('the feed has passed that place', async () => {
    const { body } = await feedAfter(api, own, readBefore);
    return body.data.filter(({ data }: any) => data.subject.startsWith('new ')).length >= 50;
  });
  await refused();
  // A cursor from before the backup goes on and reads all events that are there.
  const { status, body } = await feedAfter(api, own, readBefore);
  expect(status).toBe(200);
  const told = body.data.map(({ type, data }: any) => `${type} ${data.subject}`);
  const wanted = ['due', 'key-lost', ...Array.from({ length: 25 }, (_, index) => `new ${index}`)];
  expect(told.filter((text: string) => text.startsWith('email.sent')).toSorted()).toEqual(
    wanted.map((subject) => `email.sent ${subject}`).toSorted(),
  );

  // The cancellation was lost, so the email is scheduled again and goes out once at its time.
  expect((await read(scheduled.id)).body.status).toBe('queued');
  expect(sink.messages.filter(isAbout('scheduled'))).toEqual([]);
  await advanceClock(5 * minuteMs);
  await waitFor('it has been sent at its time', () => sink.messages.some(isAbout('scheduled')));
  await comesToRest(worker);
  await worker.stop();
  expect(sink.messages.filter(isAbout('scheduled'))).toHaveLength(1);
  expect(
    sink.messages.filter((message) => isAbout('orphan')(message) || isAbout('late orphan')(message)),
  ).toEqual([]);
  expect((await read(due.id)).body.status).toBe('sent');
  // One delivery for each email that is there now; those of the lost ten minutes are gone with their events.
  expect(await countsOf(webhook.id)).toEqual({ inRedis: 0, parked: 0, delivered: 29, failed: 0, skipped: 0 });
});

test('Redis goes back and MySQL does not: jobs of what is done do nothing, and nothing waits for a job', async () => {
  const [own, sink, receiver] = await Promise.all([workspace(), startSmtpSink(), startWebhookReceiver()]);
  await makeWebhook(own, receiver.url, ['email.sent']);
  const api = await startApi();
  await relayTo(sink);
  const subjects = Array.from({ length: 8 }, (_, index) => `early ${index}`);
  for (const subject of subjects) await sendEmail(api, own, { subject });
  const backup = await backUpRedis();

  const workers = await runWorkers();
  await waitFor('all are delivered', () => receiver.requests.length === 8);
  await workers.stop();
  for (let index = 0; index < 4; index += 1) await sendEmail(api, own, { subject: `late ${index}` });
  await backup.restore();

  const worker = await startWorkerProcess();
  await waitFor('what Redis had not heard of is delivered', () => receiver.requests.length === 12);
  await comesToRest(worker);
  await worker.stop();
  const sent = sink.messages.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw.toString())![1]);
  expect(sent.map(String).toSorted()).toEqual([
    ...subjects,
    ...Array.from({ length: 4 }, (_, index) => `late ${index}`),
  ]);
  expect(receiver.requests).toHaveLength(12);
});

test('a cursor that is a moment ahead of the feed, as on a node of a cluster that lags, is given back as it is', async () => {
  const own = await workspace();
  const api = await startApi();
  await storeEvents(own, 3, () => eventData('email.queued'));
  await relayAll();
  const cursor = await cursorNow(api, own);
  const moveCounter = (by: number) =>
    query("UPDATE counters SET value = value + ? WHERE name = 'events.position'", [by]);
  await moveCounter(-1);
  expect((await feedAfter(api, own, cursor)).body).toEqual({ data: [], nextCursor: cursor, hasMore: false });
  await advanceClock(minuteMs);
  expect((await feedAfter(api, own, cursor)).status).toBe(410);
  await moveCounter(1);
  expect((await feedAfter(api, own, cursor)).status).toBe(200);
});
