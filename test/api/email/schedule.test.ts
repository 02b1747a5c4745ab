import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { queueOf } from '../../../shared/queue/queue.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { postEmail, sendEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { advanceClock, advanceClockTo, clockToleranceMs } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const dayMs = 86_400_000;
const inFuture = (ms: number) => new Date(now().getTime() + ms);

function threeMonthsAfter(time: Date): Date {
  const month = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 4, 0));
  const day = Math.min(time.getUTCDate(), month.getUTCDate());
  return new Date(new Date(time).setUTCFullYear(month.getUTCFullYear(), month.getUTCMonth(), day));
}

/** Sends emails with times around a bound, and returns the accepted and the refused times. */
async function around(bound: (time: Date) => Date) {
  const accepted: { scheduledAt: Date; createdAt: Date }[] = [];
  const refused: { scheduledAt: Date; before: Date; after: Date }[] = [];
  // The last offsets are for a slow machine, where more time passes before the check.
  const offsets = [...Array.from({ length: 61 }, (_, index) => index - 30), 100, 300, 1000, 5000];
  for (const offsetMs of offsets) {
    const before = now();
    const scheduledAt = new Date(bound(before).getTime() + offsetMs);
    const { status, body } = await postEmail(api, own, { scheduledAt: scheduledAt.toISOString() });
    if (status === 201) accepted.push({ scheduledAt, createdAt: new Date(body.createdAt) });
    else {
      expect(Object.keys(body.errors)).toEqual(['scheduledAt']);
      refused.push({ scheduledAt, before, after: now() });
    }
  }
  expect(accepted).not.toEqual([]);
  expect(refused).not.toEqual([]);
  return { accepted, refused };
}

// Shows A55
test('scheduledAt must be more than 5 minutes ahead of the platform’s clock, to the millisecond', async () => {
  await advanceClock(dayMs);
  const fiveMinutesAfter = (time: Date) => new Date(time.getTime() + 300_000);
  const { accepted, refused } = await around(fiveMinutesAfter);
  for (const { scheduledAt, createdAt } of accepted)
    expect(scheduledAt.getTime()).toBeGreaterThan(fiveMinutesAfter(createdAt).getTime());
  for (const { scheduledAt, after } of refused)
    expect(scheduledAt.getTime()).toBeLessThanOrEqual(fiveMinutesAfter(after).getTime() + clockToleranceMs);
});

// Shows A55
test('scheduledAt must be less than 3 months ahead, to the millisecond', async () => {
  const { accepted, refused } = await around(threeMonthsAfter);
  for (const { scheduledAt, createdAt } of accepted)
    expect(scheduledAt.getTime()).toBeLessThan(threeMonthsAfter(createdAt).getTime());
  for (const { scheduledAt, before } of refused)
    expect(scheduledAt.getTime()).toBeGreaterThanOrEqual(
      threeMonthsAfter(before).getTime() - clockToleranceMs,
    );
});

test('three months from 30 November end with February', async () => {
  const year =
    now().getUTCFullYear() + (now() < new Date(Date.UTC(now().getUTCFullYear(), 10, 30, 11)) ? 0 : 1);
  await advanceClockTo(new Date(Date.UTC(year, 10, 30, 12)));
  const lastOfFebruary = new Date(Date.UTC(year + 1, 2, 0)).getUTCDate();
  const february = (hour: number) => new Date(Date.UTC(year + 1, 1, lastOfFebruary, hour)).toISOString();
  expect((await postEmail(api, own, { scheduledAt: february(11) })).status).toBe(201);
  expect((await postEmail(api, own, { scheduledAt: february(14) })).status).toBe(400);
});

test.each([
  ['an offset ahead', (utc: string) => utc.replace('Z', '+00:00'), 0],
  ['half an hour more', (utc: string) => utc.replace('Z', '+05:30'), -330],
  ['an offset behind', (utc: string) => utc.replace('Z', '-11:00'), 660],
  ['lower case', (utc: string) => utc.toLowerCase(), 0],
  ['no fraction', (utc: string) => utc.replace('.000', ''), 0],
  ['a short fraction', (utc: string) => utc.replace('.000', '.0'), 0],
  ['a long fraction', (utc: string) => utc.replace('.000', '.000999999'), 0],
])('any offset of RFC 3339 is read, and answered in UTC: %s', async (_form, write, minutes) => {
  const utc = new Date(Math.ceil(inFuture(2 * dayMs).getTime() / 1000) * 1000).toISOString();
  const { scheduledAt } = await sendEmail(api, own, { scheduledAt: write(utc) });
  expect(scheduledAt).toBe(new Date(Date.parse(utc) + minutes * 60_000).toISOString());
});

test('a scheduled email is answered as queued and waits in MySQL, not in Redis', async () => {
  const scheduledAt = inFuture(60 * 60_000).toISOString();
  const record = await sendEmail(api, own, { scheduledAt });
  expect(record).toMatchObject({ status: 'queued', scheduledAt, sentAt: null });
  const [row] = await query('SELECT parked, due_at FROM emails WHERE id = ?', [idToBytes(record.id)]);
  expect(row).toMatchObject({ parked: 1, due_at: new Date(scheduledAt) });
  // The second email is due sooner, so it enters Redis. A job of the first email would be there by then.
  const near = await sendEmail(api, own, { scheduledAt: inFuture(6 * 60_000).toISOString() });
  await waitFor('the second comes in', () => queueOf('send-email').getJob(`${near.id}-1`));
  expect(await queueOf('send-email').getJob(`${record.id}-1`)).toBeUndefined();
});

test('an email that is due within a quarter of an hour enters Redis with its exact delay', async () => {
  const scheduledAt = inFuture(6 * 60_000);
  const before = now();
  const record = await sendEmail(api, own, { scheduledAt: scheduledAt.toISOString() });
  const job = await waitFor('it comes in', () => queueOf('send-email').getJob(`${record.id}-1`));
  const wait = (from: Date) => scheduledAt.getTime() - from.getTime();
  expect(job.delay).toBeLessThanOrEqual(wait(before) + clockToleranceMs);
  expect(job.delay).toBeGreaterThanOrEqual(wait(now()) - clockToleranceMs);
  expect(job.data).toEqual({
    emailId: record.id,
    workspaceId: own.workspaceId,
    requestId: expect.any(String),
  });
});
