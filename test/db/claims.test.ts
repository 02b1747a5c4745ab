import { expect, test } from 'vitest';
import { now, nowForAll } from '../../shared/common/clock.ts';
import { query, transaction } from '../../shared/db/client.ts';
import {
  type Attempt,
  claimDelivery,
  type DeliveryOutcome,
  finishDelivery,
} from '../../shared/db/webhooks/deliveries/deliveries.system.ts';
import * as relay from '../../shared/domain/events/relay.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { acceptEmail } from '../support/data/accepted-email.ts';
import { deliveriesOf, makeWebhook } from '../support/data/deliveries.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';
import { advanceClock } from '../support/time/advance-clock.ts';

// The claims of emails are tested with their job, in test/workers/send-email/claims.test.ts.
useDatabase();

const leaseMs = 60_000;
const claim = (deliveryId: string) =>
  claimDelivery({ id: deliveryId, at: nowForAll(), until: new Date(now().getTime() + leaseMs) });

/** Makes a workspace with `count` webhooks, and the deliveries of one event to them. */
async function pending(
  count: number,
): Promise<{ ids: string[]; read: () => ReturnType<typeof deliveriesOf> }> {
  const mine = await workspace();
  const hooks: string[] = [];
  for (let made = 0; made < count; made += 1)
    hooks.push((await makeWebhook(mine, `https://example.com/${made}`)).id);
  await acceptEmail(mine);
  await relay.relayAll();
  const read = async () => (await Promise.all(hooks.map((id) => deliveriesOf(id)))).flat();
  return { ids: (await read()).map(({ id }) => id), read };
}

const attempted: Attempt = {
  attemptedAt: new Date('2026-11-20T10:00:00.123Z'),
  durationMs: 12,
  responseStatus: 200,
  responseBody: '"quoted" \\ \n 🙂 {"a":[1]}',
  error: null,
};
const outcome = (
  deliveryId: string,
  token: Buffer,
  changes: Partial<DeliveryOutcome> = {},
): DeliveryOutcome => ({
  deliveryId,
  token,
  claims: 1,
  status: 'delivered',
  attempts: 1,
  scheduleStep: 0,
  dueAt: null,
  parked: false,
  completedAt: new Date('2026-11-20T10:00:01.456Z'),
  attempt: attempted,
  ...changes,
});

test('a delivery is claimed once, whoever else asks in the same moment or later', async () => {
  const { ids } = await pending(5);
  const claims = await Promise.all([...ids, ...ids, ...ids].map(claim));
  const held = claims.filter((one) => one !== null).map(({ id }) => id);
  expect(held.toSorted()).toEqual(ids.toSorted());
  expect(await Promise.all(ids.map(claim))).toEqual(ids.map(() => null));
});

test('each claim of a batch comes with its own event and webhook', async () => {
  const { ids } = await pending(8);
  const claims = await Promise.all(ids.toReversed().map(claim));
  expect(claims.map((one) => one!.id)).toEqual(ids.toReversed());
  expect(claims.map((one) => one!.webhook!.url)).toEqual(
    Array.from({ length: 8 }, (_, index) => `https://example.com/${7 - index}`),
  );
  expect(new Set(claims.map((one) => one!.event.id)).size).toBe(1);
});

test('a claim ends with its lease, and what the former holder has to say is not heard', async () => {
  const { ids, read } = await pending(1);
  const former = (await claim(ids[0]!))!;
  await advanceClock(leaseMs + 1_000);
  const holder = (await claim(ids[0]!))!;
  expect(holder.token.equals(former.token)).toBe(false);
  expect(holder.claims).toBe(2);
  const before = await read();
  expect(await finishDelivery(outcome(ids[0]!, former.token))).toBe(false);
  expect(await read()).toEqual(before);
  expect(await finishDelivery(outcome(ids[0]!, holder.token, { claims: 2 }))).toBe(true);
  // The same statement is repeated when the answer to the first one was lost.
  expect(await finishDelivery(outcome(ids[0]!, holder.token, { claims: 2 }))).toBe(true);
  expect((await read())[0]).toMatchObject({ status: 'delivered' });
});

test('an old holder and the new one who end in the same moment: the row is as the new one says, and the old one is told', async () => {
  const { ids, read } = await pending(1);
  const former = (await claim(ids[0]!))!;
  await advanceClock(leaseMs + 1_000);
  const holder = (await claim(ids[0]!))!;
  const late = outcome(ids[0]!, former.token, { status: 'skipped' });
  const current = outcome(ids[0]!, holder.token, { claims: 2 });
  expect(await Promise.all([finishDelivery(late), finishDelivery(current)])).toEqual([false, true]);
  expect((await read())[0]).toMatchObject({ status: 'delivered', isHeld: false });
});

test('outcomes that are written together each reach their own row, to the millisecond and the letter', async () => {
  const { ids, read } = await pending(4);
  const claims = await Promise.all(ids.map(claim));
  const token = (index: number) => claims[index]!.token;
  const dueAt = new Date('2026-11-20T10:05:00.789Z');
  const waiting = { status: 'pending', dueAt, completedAt: null } as const;
  const failure = { ...attempted, responseStatus: null, responseBody: null, error: 'timeout' };
  await Promise.all([
    finishDelivery(outcome(ids[0]!, token(0))),
    finishDelivery(
      outcome(ids[1]!, token(1), { ...waiting, parked: true, scheduleStep: 2, attempt: failure }),
    ),
    finishDelivery(outcome(ids[2]!, Buffer.alloc(16, 3))),
    finishDelivery(outcome(ids[3]!, token(3), { status: 'skipped', attempts: 0, attempt: null })),
  ]);
  const rows = await read();
  expect(rows[0]).toMatchObject({
    status: 'delivered',
    attempts: 1,
    dueAt: null,
    completedAt: new Date('2026-11-20T10:00:01.456Z'),
    attemptedAt: attempted.attemptedAt,
    durationMs: 12,
    responseStatus: 200,
    responseBody: attempted.responseBody,
    error: null,
  });
  expect(rows[1]).toMatchObject({ ...waiting, parked: true, responseStatus: null, error: 'timeout' });
  expect(rows[2]).toMatchObject({ status: 'pending', attempts: 0, attemptedAt: null });
  expect(rows[3]).toMatchObject({ status: 'skipped', attempts: 0, attemptedAt: null, responseStatus: null });
});

test('a claim made within a transaction is not part of it: the lease must stand whatever becomes of the rest', async () => {
  const { ids } = await pending(1);
  const work = transaction(async () => {
    expect(await claim(ids[0]!)).not.toBeNull();
    throw new Error('no');
  });
  await expect(work).rejects.toThrow('no');
  expect(await claim(ids[0]!)).toBeNull();
});

test('a fault of the database reaches all who were in the batch, and the next batch works', async () => {
  const { ids } = await pending(3);
  await query('RENAME TABLE webhooks TO webhooks_away');
  const settled = await Promise.allSettled(ids.map(claim));
  await query('RENAME TABLE webhooks_away TO webhooks');
  expect(settled.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  await query('UPDATE webhook_deliveries SET due_at = created_at WHERE id IN (?)', [ids.map(idToBytes)]);
  expect((await Promise.all(ids.map(claim))).every((one) => one !== null)).toBe(true);
});
