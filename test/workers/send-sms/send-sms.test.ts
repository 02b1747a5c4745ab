import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as suppressions from '../../../shared/domain/suppressions.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import type { Submission } from '../../../shared/transports/sms.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

// Not one of the simulator's numbers, so the text goes to the gateway.
const recipient = '+447407000001';
const minuteMs = 60_000;

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  changeSettings({ SIMULATOR_SECONDS: 0 });
});
beforeEach(async () => {
  own = await textingWorkspace();
});

/** Sets up a gateway that gives this answer to each message. */
function useGateway(submission: Submission | (() => Promise<Submission>)) {
  const gateway = useTextGateway();
  onTestFinished(gateway.stop);
  gateway.says = typeof submission === 'function' ? submission : () => Promise.resolve(submission);
  return gateway;
}
const accepted: Submission = { kind: 'accepted', reference: 'r-1' };
const usage = async () => {
  const { body } = await api.request('GET', `/v2/api-keys/${own.keyId}`, { key: own.key });
  return body.limits.usedToday;
};

test('a text goes through a worker to the gateway, and its record says so', async () => {
  const gateway = useGateway(accepted);
  const workers = await runWorkers(['send-sms']);
  const { id } = await sendSms(api, own, { recipient, content: 'Grüße' });
  await waitFor('it is sent', async () => (await smsOf(own, id)).status === 'sent');
  await workers.stop();
  expect(gateway.taken).toEqual([
    {
      id,
      workspaceId: own.workspaceId,
      lane: 'default',
      sender: 'Acme',
      recipient,
      content: 'Grüße',
      parts: 1,
      wantsReceipt: true,
    },
  ]);
  const { gatewayReference, sentAt, eventTypes, dueAt } = await smsOf(own, id);
  expect([gatewayReference, eventTypes, dueAt]).toEqual(['r-1', ['sms.queued', 'sms.sent'], null]);
  expect(sentAt).not.toBeNull();
});

test('two workers at once hand one message over once', async () => {
  const gateway = useGateway(accepted);
  const { id } = await sendSms(api, own, { recipient });
  const outcomes = await Promise.all([attempt(id), attempt(id), attempt(id)]);
  expect(outcomes.map(String).toSorted()).toEqual(['done', 'dropped', 'dropped']);
  expect(gateway.taken).toHaveLength(1);
});

test('what the gateway refuses fails with its reason, and does not count against the key', async () => {
  useGateway({ kind: 'refused', code: 'content_filtered', retryable: false, detail: 'Looks like spam' });
  const { id } = await sendSms(api, own, { recipient, content: 'x'.repeat(161) });
  expect(await usage()).toBe(2);
  expect(await attempt(id)).toBe('done');
  expect(await smsOf(own, id)).toMatchObject({
    status: 'failed',
    reason: {
      category: 'rejected',
      code: 'content_filtered',
      description: 'Looks like spam',
      retryable: false,
    },
    eventTypes: ['sms.queued', 'sms.failed'],
  });
  expect(await usage()).toBe(0);
});

test('a gateway that takes no messages is asked again after 1, 5 and 15 minutes, and given up after 48 hours', async () => {
  const gateway = useGateway({ kind: 'later', detail: 'closed' });
  const { id } = await sendSms(api, own, { recipient });
  const waits: number[] = [];
  for (let tries = 0; tries < 3; tries += 1) {
    const before = now();
    const outcome = await attempt(id);
    if (typeof outcome === 'string') throw new Error(outcome);
    waits.push(Math.round((outcome.retryAt.getTime() - before.getTime()) / minuteMs));
    expect(await attempt(id)).toBe('dropped');
    await advanceClock(outcome.retryAt.getTime() - now().getTime() + 1000);
  }
  expect(waits).toEqual([1, 5, 15]);
  expect(gateway.taken).toHaveLength(3);
  await advanceClock(48 * 60 * minuteMs);
  expect(await attempt(id)).toBe('done');
  expect(await smsOf(own, id)).toMatchObject({
    status: 'failed',
    reason: { code: 'gateway_unavailable', retryable: true },
  });
  expect(await usage()).toBe(0);
});

test('time in which a text waits for its turn at a gateway that takes others is none of the 48 hours', async () => {
  const [turn, away]: Submission[] = [
    { kind: 'later', detail: 'The rate is used up', waitsForTurn: true },
    { kind: 'later', detail: 'closed' },
  ];
  const gateway = useGateway(turn!);
  const { id } = await sendSms(api, own, { recipient });
  for (const said of [turn!, away!, turn!]) {
    gateway.says = () => Promise.resolve(said);
    await attempt(id);
    expect(await smsOf(own, id)).toMatchObject({ status: 'queued', reason: null });
    await advanceClock(49 * 60 * minuteMs);
  }
  gateway.says = () => Promise.resolve(away!);
  expect(await attempt(id)).toBe('done');
  expect((await smsOf(own, id)).reason).toMatchObject({ code: 'gateway_unavailable' });
});

test('where the gateway’s answer is lost the message goes out once more, and then fails as uncertain', async () => {
  const gateway = useGateway({ kind: 'unavailable', detail: 'reset' });
  const { id } = await sendSms(api, own, { recipient });
  expect(await attempt(id)).toEqual({ retryAt: expect.any(Date) });
  await advanceClock(2 * minuteMs);
  expect(await attempt(id)).toBe('done');
  expect(gateway.taken.map((message) => message.id)).toEqual([id, id]);
  expect(await smsOf(own, id)).toMatchObject({
    status: 'failed',
    reason: { category: 'failed', code: 'delivery_uncertain', retryable: true },
  });
});

test('a message whose worker died at the gateway goes out once more at most', async () => {
  const gateway = useGateway(() => new Promise<Submission>(() => {}));
  changeSettings({ LEASE_SECONDS: 150 });
  const { id } = await sendSms(api, own, { recipient });
  for (const copies of [1, 2]) {
    void attempt(id);
    await waitFor('the gateway has it', () => gateway.taken.length === copies);
    // The time-out of the attempt runs in real time; the lease runs by the platform's clock, which the test moves.
    await query('UPDATE sms_messages SET lease_token = NULL WHERE id = ?', [idToBytes(id)]);
    await advanceClock(151_000);
  }
  gateway.says = () => Promise.resolve(accepted);
  expect(await attempt(id)).toBe('done');
  expect(gateway.taken).toHaveLength(2);
  expect(await smsOf(own, id)).toMatchObject({ status: 'failed', reason: { code: 'delivery_uncertain' } });
});

// Shows A54
test('a number that is suppressed meanwhile is not texted, and the parts are given back', async () => {
  const gateway = useGateway(accepted);
  const { id } = await sendSms(api, own, { recipient });
  await transaction(() => suppressions.add(own.workspaceId, { number: recipient, email: null }, 'api', null));
  await attempt(id);
  expect(gateway.taken).toEqual([]);
  expect(await smsOf(own, id)).toMatchObject({
    status: 'failed',
    reason: { category: 'suppressed', code: 'recipient_suppressed' },
  });
  expect(await usage()).toBe(0);
});

test('a sender that is gone when the message is due does not send', async () => {
  const gateway = useGateway(accepted);
  const { id } = await sendSms(api, own, { recipient });
  const { body } = await api.request('GET', '/v2/senders', { key: own.key });
  // The customer cannot delete the sender while a text waits; the operator can take it back.
  const removed = await api.request('DELETE', `/v2/senders/${body.data[0].id}`, { key: own.key });
  expect(removed.status).toBe(409);
  await query('DELETE FROM senders WHERE id = ?', [idToBytes(body.data[0].id)]);
  await attempt(id);
  expect(gateway.taken).toEqual([]);
  expect(await smsOf(own, id)).toMatchObject({ reason: { code: 'sender_not_approved' } });
});

test('while the workspace may not send, its messages wait, for 48 hours', async () => {
  const gateway = useGateway(accepted);
  const [first, second] = [await sendSms(api, own, { recipient }), await sendSms(api, own, { recipient })];
  await workspaces.change(own.workspaceId, { sendingBlocked: true });
  for (const { id } of [first, second]) expect(await attempt(id)).toBe('dropped');
  expect((await smsOf(own, first.id)).parked).toBe(true);
  expect(gateway.taken).toEqual([]);
  await workspaces.change(own.workspaceId, { sendingBlocked: false });
  await advanceClock(2 * minuteMs);
  expect(await attempt(first.id)).toBe('done');
  expect((await smsOf(own, first.id)).status).toBe('sent');
  await workspaces.change(own.workspaceId, { sendingBlocked: true });
  await advanceClock(49 * 60 * minuteMs);
  await attempt(second.id);
  expect(await smsOf(own, second.id)).toMatchObject({ reason: { code: 'sending_blocked', retryable: true } });
});

test('a scheduled message waits in its row, is let in when its time is near, and goes out then', async () => {
  const gateway = useGateway(accepted);
  const scheduledAt = new Date(now().getTime() + 3_600_000);
  const { id } = await sendSms(api, own, { recipient, scheduledAt: scheduledAt.toISOString() });
  expect((await smsOf(own, id)).parked).toBe(true);
  expect(await attempt(id)).toBe('dropped');
  await advanceClock(3_600_000 - 5 * minuteMs);
  await recovery.sweep();
  expect((await smsOf(own, id)).parked).toBe(false);
  expect(await attempt(id)).toBe('dropped');
  await advanceClock(6 * minuteMs);
  expect(await attempt(id)).toBe('done');
  expect(gateway.taken).toHaveLength(1);
});

test('of a workspace that sends many at once some wait for the sweep, and those of others do not', async () => {
  useGateway(accepted);
  const other = await textingWorkspace();
  changeSettings({ SMS_JOBS_PER_WORKSPACE: 3 });
  const many = await Promise.all(Array.from({ length: 40 }, () => sendSms(api, own, { recipient })));
  const one = await sendSms(api, other, { recipient });
  changeSettings({ SMS_JOBS_PER_WORKSPACE: 500 });
  const waiting = async () =>
    (await Promise.all(many.map(({ id }) => smsOf(own, id)))).filter(({ parked }) => parked).length;
  expect(await waiting()).toBeGreaterThan(20);
  expect((await smsOf(other, one.id)).parked).toBe(false);
  await recovery.sweep();
  expect(await waiting()).toBe(0);
  const workers = await runWorkers(['send-sms']);
  await waitFor('all are sent', async () =>
    (await Promise.all(many.map(({ id }) => smsOf(own, id)))).every(({ status }) => status === 'sent'),
  );
  await workers.stop();
});

test('a message whose job is lost is found by the sweep', async () => {
  const gateway = useGateway(accepted);
  const { id } = await sendSms(api, own, { recipient });
  await forgetRedis();
  await advanceClock(5_000);
  await recovery.sweep();
  const workers = await runWorkers(['send-sms']);
  await waitFor('it is sent', async () => (await smsOf(own, id)).status === 'sent');
  await workers.stop();
  expect(gateway.taken).toHaveLength(1);
});
