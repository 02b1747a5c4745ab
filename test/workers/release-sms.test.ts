import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import * as balance from '../../shared/domain/sms/balance.ts';
import { attempt } from '../../shared/domain/sms/delivery/delivery.ts';
import { release } from '../../shared/domain/sms/held.ts';
import * as prices from '../../shared/domain/sms/prices.ts';
import * as recovery from '../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { releaseSms } from '../../shared/jobs/release-sms.ts';
import { queueOf } from '../../shared/queue/queue.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../support/data/new-sms.ts';
import { copyRow, idOfCopy } from '../support/database/copied-rows.ts';
import { forgetRedis, useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { useTextGateway } from '../support/servers/text-gateway.ts';
import { advanceClock } from '../support/time/advance-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 3600 });
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
});
beforeEach(async () => {
  own = await textingWorkspace();
});

const part = 300;
const credit = (amount: number) => balance.add(own.workspaceId, amount, null);
const left = () => balance.find(own.workspaceId);
const statusOf = async (id: string) => (await smsOf(own, id)).status;
const hourMs = 3_600_000;
const inHours = (hours: number) => new Date(now().getTime() + hours * hourMs).toISOString();
/** Sends a text that is held, and copies its row. */
async function holdMany(count: number): Promise<void> {
  const { id, status } = await sendSms(api, own);
  expect(status).toBe('held');
  await copyRow('sms_messages', idToBytes(id), count - 1, {
    id: idOfCopy,
  });
}
const twoParts = { content: 'x'.repeat(161) };

test('what could be paid goes behind what waits already', async () => {
  await credit(part);
  const held = await sendSms(api, own, twoParts);
  const small = await sendSms(api, own);
  expect([held.status, small.status]).toEqual(['held', 'held']);
  await credit(part);
  expect(await release(own.workspaceId)).toEqual({ released: 1, isOver: true });
  expect([await statusOf(held.id), await statusOf(small.id)]).toEqual(['queued', 'held']);
  expect((await smsOf(own, held.id)).eventTypes).toEqual(['sms.queued', 'sms.held', 'sms.queued']);
  expect(await left()).toBe(0);
});

test('held messages go out by themselves once there is money, oldest first, up to what it pays for', async () => {
  await credit(1);
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) ids.push((await sendSms(api, own)).id);
  const workers = await runWorkers(['release-sms', 'send-sms']);
  await credit(3 * part);
  await waitFor('three are sent', async () => {
    const statuses = await Promise.all(ids.map(statusOf));
    return statuses.filter((status) => status === 'sent').length === 3;
  });
  expect(await Promise.all(ids.map(statusOf))).toEqual(['sent', 'sent', 'sent', 'held', 'held']);
  expect(await left()).toBe(1);
  await balance.makeUnlimited(own.workspaceId);
  await waitFor('all are sent', async () =>
    (await Promise.all(ids.map(statusOf))).every((status) => status === 'sent'),
  );
  await workers.stop();
  expect(await left()).toBeNull();
});

test('a release whose job is lost is made again by the sweep', async () => {
  await credit(1);
  const { id } = await sendSms(api, own);
  await credit(part);
  const workers = await runWorkers(['release-sms']);
  await recovery.sweep();
  await waitFor('it is let go', async () => (await statusOf(id)) === 'queued');
  await workers.stop();
});

// Shows A51
test('many held messages are let go whole, each paid for once, by two at a time', async () => {
  await credit(1);
  await holdMany(130);
  await balance.add(own.workspaceId, 120 * part, null);
  const released = await Promise.all([release(own.workspaceId), release(own.workspaceId)]);
  expect(released[0].released + released[1].released).toBe(120);
  expect(await left()).toBe(1);
});

test('a release ends its turn with more to let go, and the job goes on with it', async () => {
  await credit(1);
  await holdMany(250);
  await balance.add(own.workspaceId, 250 * part, null);
  expect(await release(own.workspaceId, 0)).toEqual({ released: 100, isOver: false });
  expect(await release(own.workspaceId, 0)).toEqual({ released: 100, isOver: false });
  expect(await release(own.workspaceId, 0)).toEqual({ released: 50, isOver: true });
  expect(await left()).toBe(1);
});

test('the sweep gives a workspace one release, however often it runs', async () => {
  const queue = queueOf(releaseSms.lanes.default);
  const releases = async () =>
    (await queue.getWaiting()).filter(({ data }) => data.workspaceId === own.workspaceId).length;
  await credit(1);
  await sendSms(api, own);
  await credit(part);
  await waitFor('those of the credits are there', async () => (await releases()) === 2);
  await forgetRedis();
  await recovery.sweep();
  await waitFor('it has a release', async () => (await releases()) > 0);
  await advanceClock(1_000);
  await recovery.sweep();
  // A second release of the sweep would reach Redis before the release of this call.
  balance.wakeRelease(own.workspaceId);
  await waitFor('that of a credit has come', async () => (await releases()) > 1);
  expect(await releases()).toBe(2);
  await release(own.workspaceId);
});

test('a scheduled message that was held waits for its time once it is paid for', async () => {
  await credit(1);
  const { id } = await sendSms(api, own, { scheduledAt: inHours(2) });
  await credit(part);
  await release(own.workspaceId);
  expect([await statusOf(id), await left(), await attempt(id)]).toEqual(['queued', 1, 'dropped']);
});

test('the time that a message was held does not count against its retries', async () => {
  const gateway = useTextGateway();
  onTestFinished(gateway.stop);
  gateway.says = () => Promise.resolve({ kind: 'later', detail: 'Busy' });
  await credit(1);
  const { id } = await sendSms(api, own, { recipient: '+447407000001' });
  await advanceClock(50 * hourMs);
  await credit(part);
  await release(own.workspaceId);
  expect(await attempt(id)).toEqual({ retryAt: expect.any(Date) });
  await advanceClock(47 * hourMs);
  expect(await attempt(id)).toEqual({ retryAt: expect.any(Date) });
  await advanceClock(2 * hourMs);
  expect(await attempt(id)).toBe('done');
  expect(await smsOf(own, id)).toMatchObject({ status: 'failed', reason: { code: 'gateway_unavailable' } });
  expect(await left()).toBe(1 + part);
});
