import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { now, nowForAll } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import * as system from '../../../shared/db/sms/messages.system.ts';
import * as balance from '../../../shared/domain/sms/balance.ts';
import { attempt, deliver } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as prices from '../../../shared/domain/sms/prices.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import type { Submission } from '../../../shared/transports/sms.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { lockTable } from '../../support/database/lock-table.ts';
import { rowsOf } from '../../support/database/rows.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';
import { advanceClock, advanceClockTo } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let gateway: ReturnType<typeof useTextGateway>;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
});
beforeEach(async () => {
  // The time-out is long, so that a test can decide when the gateway answers.
  changeSettings({ SMS_TIMEOUT_SECONDS: 60 });
  gateway = useTextGateway();
  onTestFinished(gateway.stop);
  own = await textingWorkspace();
  await balance.add(own.workspaceId, 1_000, null);
});

// Not one of the simulator's numbers, so the text goes to the gateway.
const send = (content = 'Hello') => sendSms(api, own, { recipient: '+447407000001', content });
const leaseMs = () => Math.max(config.LEASE_SECONDS, 2 * config.SMS_TIMEOUT_SECONDS) * 1000;
const leaseEnds = () => advanceClock(leaseMs() + 1_000);
const rows = () => rowsOf(own.workspaceId);

/** Starts a worker that has handed the text over and waits for the gateway's answer. */
async function handsOver(id: string) {
  const { promise, resolve: hears } = Promise.withResolvers<Submission>();
  const before = gateway.taken.length;
  gateway.says = () => promise;
  const outcome = attempt(id);
  await waitFor('the gateway has the text', () => gateway.taken.length === before + 1);
  gateway.says = gateway.works;
  return { hears, outcome };
}

const late: Record<string, Submission> = {
  accepted: { kind: 'accepted', reference: 'late' },
  'accepted in parts': {
    kind: 'accepted',
    reference: 'late-1',
    parts: [
      { part: 1, reference: 'late-1' },
      { part: 2, reference: 'late-2' },
    ],
  },
  refused: { kind: 'refused', code: 'late', retryable: false, detail: 'Late' },
  'wanted later': { kind: 'later', detail: 'Late' },
  'not answered': { kind: 'unavailable', detail: 'Late' },
};

// Shows F13
test.each(Object.keys(late))(
  'a worker that hears "%s" after another has taken its text over changes nothing',
  async (said) => {
    const { id } = await send('x'.repeat(200));
    const first = await handsOver(id);
    await leaseEnds();
    expect(await attempt(id)).toBe('done');
    const stored = await smsOf(own, id);
    expect(stored).toMatchObject({
      status: 'sent',
      gatewayReference: 'ok',
      uncertainCount: 1,
      eventTypes: ['sms.queued', 'sms.sent'],
    });
    const before = await rows();
    first.hears(late[said]!);
    expect(await first.outcome).toBe('dropped');
    expect(await rows()).toEqual(before);
    expect(await balance.find(own.workspaceId)).toBe(1_000 - 600);
    // The gateway got one copy more; the carrier can recognize it by its id.
    const [one, copy, ...more] = gateway.taken;
    expect([one!.id, copy, more]).toEqual([id, one, []]);
  },
);

test('a text that two workers lost at the gateway is given up by a third, and what those hear changes nothing', async () => {
  const { id } = await send();
  const first = await handsOver(id);
  await leaseEnds();
  const second = await handsOver(id);
  await leaseEnds();
  expect(await attempt(id)).toBe('done');
  expect(await smsOf(own, id)).toMatchObject({
    status: 'failed',
    reason: { code: 'delivery_uncertain' },
    eventTypes: ['sms.queued', 'sms.failed'],
  });
  const before = await rows();
  first.hears(late['refused']!);
  second.hears(late['accepted']!);
  expect(await Promise.all([first.outcome, second.outcome])).toEqual(['dropped', 'dropped']);
  expect(await rows()).toEqual(before);
  expect(gateway.taken.map((copy) => copy.id)).toEqual([id, id]);
  // Either copy may have arrived, so it has been paid for.
  expect(await balance.find(own.workspaceId)).toBe(1_000 - 300);
});

test('of texts whose workers end together those of lost leases are left out, and the others written', async () => {
  const texts = [await send('a'), await send('b'), await send('c')];
  const hands = [];
  for (const { id } of texts) hands.push(await handsOver(id));
  const taker = Buffer.alloc(16, 7);
  await query('UPDATE sms_messages SET lease_token = ? WHERE id = ?', [taker, idToBytes(texts[1].id)]);
  for (const { hears } of hands) hears({ kind: 'refused', code: 'no', retryable: false, detail: 'No' });
  const outcomes = await Promise.all(hands.map(({ outcome }) => outcome));
  expect(outcomes).toEqual(['done', 'dropped', 'done']);
  const types = await Promise.all(texts.map(async ({ id }) => (await smsOf(own, id)).eventTypes));
  const failed = ['sms.queued', 'sms.failed'];
  expect(types).toEqual([failed, ['sms.queued'], failed]);
  // Only the one that is still under way has been paid for.
  expect(await balance.find(own.workspaceId)).toBe(1_000 - 300);
});

// Shows F13
test('a worker that lost its lease before it speaks to the gateway does not speak', async () => {
  const { id } = await send();
  const claim = async () => {
    const at = nowForAll();
    return system.claimSms({ id, at, until: new Date(at.getTime() + leaseMs()) });
  };
  const loser = (await claim())!;
  expect(await claim()).toBeNull();
  await leaseEnds();
  const successor = (await claim())!;
  const starts = (token: Buffer, receiver: string) =>
    system.updateSmsHandoverStarted({ id, token, at: now(), receiver });
  const started = await Promise.all([starts(loser.token, 'first'), starts(successor.token, 'second')]);
  expect(started).toEqual([false, true]);
  await system.updateSmsHeldBack({ id, token: loser.token, at: now() });
  expect(await smsOf(own, id)).toMatchObject({
    parked: false,
    claims: 2,
    handoverAt: expect.any(Date),
    handoverGateway: 'second',
  });
});

/** Makes an attempt that the database keeps for half of its lease. */
async function attemptTooSlowly(id: string): Promise<void> {
  const unlock = await lockTable('senders');
  const tried = attempt(id);
  await waitFor('it is claimed', async () => (await smsOf(own, id)).claims === 1);
  await advanceClock(leaseMs() / 2 + 1_000);
  await unlock();
  expect(await tried).toEqual({ retryAt: expect.any(Date) });
  expect(gateway.taken).toHaveLength(0);
}

test('an attempt that is given back leaves the gateway that an earlier worker spoke to', async () => {
  const { id } = await send();
  const before = { handover_at: new Date(now().getTime() - 60_000), handover_gateway: 'other' };
  await query('UPDATE sms_messages SET ? WHERE id = ?', [before, idToBytes(id)]);
  await attemptTooSlowly(id);
  expect(await smsOf(own, id)).toMatchObject({
    handoverAt: before.handover_at,
    handoverGateway: 'other',
    uncertainCount: 0,
  });
});

// Shows F13
test('an attempt that the database kept for half of its lease is given back before it speaks, and made again', async () => {
  const { id } = await send();
  await attemptTooSlowly(id);
  expect(await smsOf(own, id)).toMatchObject({
    status: 'queued',
    handoverAt: null,
    uncertainCount: 0,
    claims: 0,
  });
  expect(await attempt(id)).toBe('done');
  expect(gateway.taken).toHaveLength(1);
});

/** Runs the work while the senders cannot be read. */
async function withoutSenders(work: () => Promise<void>): Promise<void> {
  await query('RENAME TABLE senders TO senders_away');
  try {
    await work();
  } finally {
    await query('RENAME TABLE senders_away TO senders');
  }
}

test('a text that a fault of our own stops waits for the operator, however often it was tried, and goes out then', async () => {
  const { id } = await send();
  await withoutSenders(async () => {
    for (let tries = 0; tries < 12; tries += 1) {
      expect(await attempt(id)).toBe('dropped');
      expect(await smsOf(own, id)).toMatchObject({ status: 'queued', parked: true, claims: 0, retries: 0 });
      await advanceClockTo((await smsOf(own, id)).dueAt!);
    }
  });
  expect(await attempt(id)).toBe('done');
  expect(gateway.taken).toHaveLength(1);
});

test('texts of one job that a fault of our own stops wait in their rows, as their job does not come again', async () => {
  const texts = [await send('a'), await send('b')];
  await query("UPDATE sms_messages SET lane = 'bulk' WHERE workspace_id = ?", [idToBytes(own.workspaceId)]);
  const [first, other] = texts.map(({ id }) => id);
  const job = {
    smsId: first,
    workspaceId: own.workspaceId,
    others: [{ smsId: other, requestId: null }],
  };
  await withoutSenders(async () => expect(await deliver('bulk', job)).toBe('done'));
  for (const { id } of texts) {
    const text = await smsOf(own, id);
    expect(text).toMatchObject({ status: 'queued', parked: true, claims: 0 });
    await advanceClockTo(text.dueAt!);
  }
  expect(await deliver('bulk', job)).toBe('done');
  expect(gateway.taken.map(({ content }) => content).toSorted()).toEqual(['a', 'b']);
});

test('a text that a fault of our own never lets go fails after 48 hours, and is paid back', async () => {
  const { id } = await send();
  await withoutSenders(async () => {
    expect(await attempt(id)).toBe('dropped');
    await advanceClock(48 * 3_600_000);
    expect(await attempt(id)).toBe('done');
  });
  expect(await smsOf(own, id)).toMatchObject({ status: 'failed', reason: { code: 'internal_error' } });
  expect(await balance.find(own.workspaceId)).toBe(1_000);
});
