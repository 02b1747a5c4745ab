import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { listEventsOfRecord } from '../../../../shared/db/events/events.ts';
import * as apiKeys from '../../../../shared/domain/api-keys/api-keys.ts';
import * as balance from '../../../../shared/domain/sms/balance.ts';
import * as prices from '../../../../shared/domain/sms/prices.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { batchOf, messagesTo, newBatch, workLater, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

// A key may end while its batch is paused for another cause.
useDatabase();

let api: Client;
/** The workspace with a key that does not end. */
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
});
beforeEach(async () => {
  own = await textingWorkspace();
});

const hourMs = 3_600_000;
const credit = (amount: number) => balance.add(own.workspaceId, amount, null);
const shown = (id: string) => batchOf(api, own, id);
const call = (method: string, path: string) => api.request(method, `/v2${path}`, { key: own.key });
const resume = (id: string) => call('POST', `/sms/batches/${id}/resume`);
const usedToday = async () => (await call('GET', `/api-keys/${own.keyId}`)).body.limits.usedToday;
const reasonsOf = async (id: string) =>
  (await listEventsOfRecord(own.workspaceId, id)).map(({ data }) => JSON.parse(data).pausedReason);

const ends = {
  deleted: async (keyId: string) => {
    expect((await call('DELETE', `/api-keys/${keyId}`)).status).toBe(204);
  },
  expired: () => advanceClock(hourMs + 1_000),
};

/** Makes a batch that pauses because it cannot be paid, and then ends its key. */
async function unpaidBatch(end: keyof typeof ends): Promise<string> {
  await credit(1);
  const expiresAt = end === 'expired' ? new Date(now().getTime() + hourMs) : null;
  const { key, record } = await apiKeys.issue(own.workspaceId, { expiresAt });
  const { id } = await newBatch(api, { key }, { messages: messagesTo(1) });
  await workOff(id);
  expect(await shown(id)).toMatchObject({ status: 'paused', pausedReason: 'insufficient_balance' });
  await ends[end](record.id);
  return id;
}

test.each(['deleted', 'expired'] as const)(
  'a batch that waits for a balance pauses for its key that was %s, and younger ones go on',
  async (end) => {
    const older = await unpaidBatch(end);
    const { id: younger } = await newBatch(api, own, { messages: messagesTo(1, 10) });
    await workOff(younger);
    expect(await shown(younger)).toMatchObject({
      status: 'paused',
      pausedReason: 'insufficient_balance',
    });
    await credit(1_000_000);
    await workLater(older);
    expect(await shown(older)).toMatchObject({ status: 'paused', pausedReason: 'key_revoked' });
    expect(await reasonsOf(older)).toEqual(['insufficient_balance', 'key_revoked']);
    await workLater(younger);
    expect((await shown(younger)).counts.queued).toBe(1);

    expect((await resume(older)).body).toMatchObject({ status: 'processing', pausedReason: null });
    await workOff(older);
    expect([(await shown(older)).counts.queued, await usedToday()]).toEqual([1, 2]);
  },
);

test.each(['deleted', 'expired'] as const)(
  'a key that resumes a batch whose own was %s adopts it, whatever it is paused for',
  async (end) => {
    const id = await unpaidBatch(end);
    // The batch still cannot be paid; after a credit it goes on by itself.
    expect(await resume(id)).toMatchObject({
      status: 200,
      body: { status: 'paused', pausedReason: 'insufficient_balance' },
    });
    await credit(1_000_000);
    await workLater(id);
    expect(await shown(id)).toMatchObject({ status: 'processing', counts: { queued: 1 } });
    expect([await reasonsOf(id), await usedToday()]).toEqual([['insufficient_balance'], 1]);
  },
);

test('a batch whose key has ended and that can be paid by now goes on at once with the key that resumes it', async () => {
  const id = await unpaidBatch('deleted');
  await credit(1_000_000);
  expect((await resume(id)).body).toMatchObject({ status: 'processing' });
  await workOff(id);
  expect([(await shown(id)).counts.queued, await usedToday()]).toEqual([1, 1]);
});
