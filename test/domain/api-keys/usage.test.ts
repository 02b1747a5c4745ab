import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { type ErrorCode, Problem } from '../../../shared/common/errors.ts';
import * as db from '../../../shared/db/api-keys/api-keys.ts';
import { outsideTransaction, query, transaction } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { authenticate } from '../../../shared/domain/api-keys/callers.ts';
import * as keyUsage from '../../../shared/domain/api-keys/usage.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { watchLockWaits } from '../../support/database/lock-wait.ts';
import { advanceClockTo } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

type Limits = { dailyParts?: number | null; monthlyParts?: number | null };

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  own = await workspace();
});

async function keyWith(limits: Limits) {
  const { key, record } = await apiKeys.issue(own.workspaceId);
  await db.updateApiKey(own.workspaceId, { ...record, ...limits });
  return (await authenticate(key))!;
}
type Key = Awaited<ReturnType<typeof keyWith>>;

async function siblingOf(key: Key): Promise<Key> {
  const made = await transaction(() => apiKeys.rotate(key, key.keyId, {}));
  return (await authenticate(made.key!))!;
}

const reserve = (key: Key, parts: number, at = now()) => transaction(() => keyUsage.reserve(key, parts, at));
const giveBack = (key: Key, parts: number, at: Date) =>
  keyUsage.giveBack(key.workspaceId, key.lineageId, parts, at);
const used = async (key: Key) => {
  const { usedToday, usedThisMonth } = await keyUsage.find(key.workspaceId, key.lineageId);
  return [usedToday, usedThisMonth];
};

async function refusal(work: Promise<unknown>): Promise<{ code: ErrorCode; seconds: number }> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Problem)) throw new Error(`Not refused: ${String(error)}`);
  return { code: error.code, seconds: error.options.retryAfterSeconds ?? 0 };
}

const dayMs = 86_400_000;
const startOfDay = (time: Date) => new Date(Math.floor(time.getTime() / dayMs) * dayMs);
const startOfMonth = (time: Date, months = 0) =>
  new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + months));

/** Moves the clock to the 10th of the next month at noon, far from the borders of day and month. */
async function toMidMonth(): Promise<Date> {
  const middle = new Date(startOfMonth(now(), 1).getTime() + 9.5 * dayMs);
  await advanceClockTo(middle);
  return middle;
}

test('what is reserved counts in the day and in the month, up to the limit and not a part beyond', async () => {
  await toMidMonth();
  const key = await keyWith({ dailyParts: 10, monthlyParts: 100 });
  expect(await used(key)).toEqual([0, 0]);
  await reserve(key, 4);
  await reserve(key, 5);
  expect((await refusal(reserve(key, 2))).code).toBe('limit_reached');
  expect(await used(key)).toEqual([9, 9]);
  await reserve(key, 1);
  expect(await used(key)).toEqual([10, 10]);
  expect((await refusal(reserve(key, 1))).code).toBe('limit_reached');
});

test('without limits everything counts and nothing is refused', async () => {
  const key = await keyWith({});
  for (const parts of [1, 1_000_000, 100_000_000]) await reserve(key, parts);
  expect(await used(key)).toEqual([101_000_001, 101_000_001]);
});

test.each<[limits: Limits, ends: 'day' | 'month']>([
  [{ dailyParts: 5 }, 'day'],
  [{ monthlyParts: 5 }, 'month'],
  [{ dailyParts: 5, monthlyParts: 100 }, 'day'],
  [{ dailyParts: 100, monthlyParts: 5 }, 'month'],
  [{ dailyParts: 5, monthlyParts: 5 }, 'month'],
])('%j used up: a refusal says how long it is to the next UTC %s', async (limits, ends) => {
  await toMidMonth();
  const key = await keyWith(limits);
  await reserve(key, 5);
  const { code, seconds } = await refusal(reserve(key, 1));
  expect(code).toBe('limit_reached');
  const time = now();
  const end = ends === 'month' ? startOfMonth(time, 1) : new Date(startOfDay(time).getTime() + dayMs);
  expect(Math.abs(seconds - (end.getTime() - time.getTime()) / 1000)).toBeLessThan(30);
  expect(Number.isInteger(seconds)).toBe(true);
});

test('fifty at once over a key and its rotation take no more than the limit, and all that fits', async () => {
  await toMidMonth();
  const key = await keyWith({ dailyParts: 100 });
  const keys = [key, await siblingOf(key)];
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, index) => reserve(keys[index % 2]!, 3)),
  );
  const taken = outcomes.filter(({ status }) => status === 'fulfilled').length;
  expect(taken).toBe(33);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'limit_reached' });
  for (const each of keys) expect(await used(each)).toEqual([99, 99]);
  await reserve(keys[1]!, 1);
  expect((await refusal(reserve(keys[0]!, 1))).code).toBe('limit_reached');
});

test('what is reserved goes with its transaction, when that fails', async () => {
  const key = await keyWith({ dailyParts: 10 });
  const failed = transaction(async () => {
    await keyUsage.reserve(key, 10, now());
    throw new Error('not accepted');
  });
  await expect(failed).rejects.toThrow('not accepted');
  expect(await used(key)).toEqual([0, 0]);
  await reserve(key, 10);
});

test('fifty reservations and returns at once leave what was kept', async () => {
  const key = await keyWith({});
  const at = now();
  await reserve(key, 100, at);
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => (index % 2 ? reserve(key, 2, at) : giveBack(key, 1, at))),
  );
  expect(await used(key)).toEqual([125, 125]);
});

test('a new UTC day starts at 0, the month goes on', async () => {
  const middle = await toMidMonth();
  const key = await keyWith({ dailyParts: 10, monthlyParts: 15 });
  await reserve(key, 10);
  const midnight = new Date(startOfDay(middle).getTime() + dayMs);
  await advanceClockTo(midnight);
  expect(await used(key)).toEqual([0, 10]);
  await reserve(key, 5);
  expect(await used(key)).toEqual([5, 15]);
  // The day has room and the month has none, so the wait is for the next month.
  const { seconds } = await refusal(reserve(key, 1));
  expect(seconds).toBeGreaterThan(2 * 86_400);
});

test('a new UTC month starts at 0, with its day', async () => {
  await toMidMonth();
  const key = await keyWith({ dailyParts: 10, monthlyParts: 10 });
  await reserve(key, 10);
  await advanceClockTo(startOfMonth(now(), 1));
  expect(await used(key)).toEqual([0, 0]);
  await reserve(key, 10);
  expect(await used(key)).toEqual([10, 10]);
  expect((await refusal(reserve(key, 1))).code).toBe('limit_reached');
});

test('what is given back can be used again', async () => {
  await toMidMonth();
  const key = await keyWith({ dailyParts: 10, monthlyParts: 10 });
  const at = now();
  await reserve(key, 10, at);
  await giveBack(key, 4, at);
  expect(await used(key)).toEqual([6, 6]);
  await reserve(key, 4);
});

test('after midnight what is given back comes off the month only, after the month off nothing', async () => {
  const middle = await toMidMonth();
  const key = await keyWith({});
  const at = now();
  await reserve(key, 10, at);
  await advanceClockTo(new Date(startOfDay(middle).getTime() + dayMs));
  await reserve(key, 3);
  await giveBack(key, 4, at);
  expect(await used(key)).toEqual([3, 9]);
  await advanceClockTo(startOfMonth(now(), 1));
  await reserve(key, 2);
  await giveBack(key, 6, at);
  expect(await used(key)).toEqual([2, 2]);
});

test('nothing goes below 0, however much is given back', async () => {
  const key = await keyWith({});
  const at = now();
  await reserve(key, 3, at);
  await giveBack(key, 5, at);
  expect(await used(key)).toEqual([0, 0]);
});

test('a process whose clock is still on yesterday counts into the day that another has begun', async () => {
  await toMidMonth();
  const key = await keyWith({ dailyParts: 10 });
  const time = now();
  await reserve(key, 8, time);
  await reserve(key, 2, new Date(time.getTime() - dayMs));
  expect(await used(key)).toEqual([10, 10]);
  expect((await refusal(reserve(key, 1, new Date(time.getTime() - dayMs)))).code).toBe('limit_reached');
  expect((await refusal(reserve(key, 1, time))).code).toBe('limit_reached');
});

test('each key has its own limits and its own count, and a limit that is changed counts at once', async () => {
  await toMidMonth();
  const [one, other] = [await keyWith({ dailyParts: 5 }), await keyWith({ dailyParts: 5 })];
  const free = await keyWith({});
  await reserve(one, 5);
  await reserve(other, 5);
  await transaction(() => apiKeys.change(free, one.keyId, { limits: { dailyParts: 6 } }));
  await reserve(one, 1);
  await transaction(() => apiKeys.change(free, one.keyId, { limits: { dailyParts: 2 } }));
  expect((await refusal(reserve(one, 1))).code).toBe('limit_reached');
  expect(await used(one)).toEqual([6, 6]);
});

test('a key that was deleted since its request was let in takes nothing', async () => {
  const key = await keyWith({});
  await apiKeys.revoke(key.workspaceId, 'api_key', key.keyId);
  expect((await refusal(reserve(key, 1))).code).toBe('unauthenticated');
});

test('a key that is deleted while its text waits for the counts takes nothing', async () => {
  const key = await keyWith({});
  const waits = await watchLockWaits();
  onTestFinished(waits.close);
  const outcome = await transaction(async () => {
    await apiKeys.revoke(key.workspaceId, 'api_key', key.keyId);
    const late = refusal(outsideTransaction(() => reserve(key, 1)));
    await waitFor('the text to wait', async () => (await waits.look()).length === 1);
    return { late };
  });
  expect((await outcome.late).code).toBe('unauthenticated');
});

test('the counts go with the last key of a lineage, and not before', async () => {
  const key = await keyWith({});
  const sibling = await siblingOf(key);
  await reserve(key, 3);
  const rows = () => query('SELECT 1 FROM key_usage WHERE lineage_id = ?', [idToBytes(key.lineageId)]);
  await apiKeys.revoke(key.workspaceId, 'api_key', key.keyId);
  expect(await used(sibling)).toEqual([3, 3]);
  await apiKeys.revoke(key.workspaceId, 'api_key', sibling.keyId);
  expect(await rows()).toEqual([]);
  await giveBack(key, 3, now());
  expect(await rows()).toEqual([]);
});

test('the counts go when all keys of a lineage are revoked at once', async () => {
  const first = await keyWith({});
  const second = await siblingOf(first);
  const third = await siblingOf(second);
  const gone = await Promise.all(
    [first, second, third].map(({ keyId }) => apiKeys.revoke(own.workspaceId, 'api_key', keyId)),
  );
  expect(gone).toEqual([true, true, true]);
  const left = await query('SELECT 1 FROM key_usage WHERE lineage_id = ?', [idToBytes(first.lineageId)]);
  expect(left).toEqual([]);
});
