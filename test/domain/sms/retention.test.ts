import { expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { purge } from '../../../shared/domain/operations/retention.ts';
import * as balance from '../../../shared/domain/sms/balance.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as prices from '../../../shared/domain/sms/prices.ts';
import * as shortLinks from '../../../shared/domain/sms/short-links/short-links.ts';
import { startApi } from '../../support/api/start-api.ts';
import { batchOf, messagesTo, newBatch, workLater, workOff } from '../../support/data/new-batch.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

const dayMs = 86_400_000;

test('text messages and those of the simulator are kept 90 days; what still waits stays', async () => {
  changeSettings({ SMS_RETENTION_DAYS: 90 });
  const api = await startApi();
  const own = await textingWorkspace();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,,2020-01-01\n');
  const { id: old } = await sendSms(api, own);
  await attempt(old);
  await balance.add(own.workspaceId, 1, null);
  // From a day in February, three months are 89 days, and a text may be scheduled for less.
  const scheduledAt = new Date(now().getTime() + 88 * dayMs).toISOString();
  const { id: held } = await sendSms(api, own, { scheduledAt });
  await advanceClock(89 * dayMs);
  const { id: late } = await sendSms(api, own);
  const kept = async () => {
    const { body } = await api.request('GET', '/v2/sms', { key: own.key });
    return body.data.map(({ id }: { id: string }) => id);
  };
  const onPhones = async () => {
    const { body } = await api.request('GET', '/v2/simulator/phones', { key: own.key });
    return body.data.flatMap(({ messages }: { messages: unknown[] }) => messages).length;
  };
  await purge();
  expect([await kept(), await onPhones()]).toEqual([[late, held, old], 1]);
  await advanceClock(1.5 * dayMs);
  await purge();
  expect([await kept(), await onPhones()]).toEqual([[late, held], 0]);
});

test('a text that was scheduled is kept for as long after its time', async () => {
  const api = await startApi();
  const own = await textingWorkspace();
  changeSettings({ SMS_RETENTION_DAYS: 31 });
  const scheduledAt = new Date(now().getTime() + 60 * dayMs).toISOString();
  const { id } = await sendSms(api, own, { scheduledAt });
  const status = async () => (await api.request('GET', `/v2/sms/${id}`, { key: own.key })).status;
  await advanceClock(60 * dayMs + 60_000);
  expect(await attempt(id)).toBe('done');
  await advanceClock(30 * dayMs);
  await purge();
  expect(await status()).toBe(200);
  await advanceClock(dayMs);
  await purge();
  expect(await status()).toBe(404);
});

test('a batch keeps the clicks of its links for as long as itself, however long it was paused', async () => {
  changeSettings({ SMS_RETENTION_DAYS: 31 });
  const api = await startApi();
  const own = await textingWorkspace();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,,2020-01-01\n');
  await balance.add(own.workspaceId, 300, null);
  const content = 'https://x.example/a';
  const { id } = await newBatch(api, own, { content, messages: messagesTo(2), shortenLinks: true });
  await workOff(id);
  expect(await batchOf(api, own, id)).toMatchObject({ status: 'paused', counts: { queued: 1, waiting: 1 } });
  const get = async (path: string) => (await api.request('GET', path, { key: own.key })).body;
  const [sent] = (await get(`/v2/sms?batchId=${id}`)).data;
  await attempt(sent.id);
  shortLinks.countClick({ smsId: sent.id, place: 0 });
  await shortLinks.writeClicks();
  const links = async () => (await get(`/v2/sms/batches/${id}/links`)).data;
  const clicked = { url: content, clicks: 1, clickedMessages: 1 };
  await advanceClock(32 * dayMs);
  await purge();
  expect((await get(`/v2/sms?batchId=${id}`)).data).toEqual([]);
  expect(await links()).toMatchObject([{ ...clicked, messages: 1 }]);

  await balance.add(own.workspaceId, 300, null);
  await workLater(id);
  expect(await links()).toMatchObject([{ ...clicked, messages: 2 }]);
  const [late] = (await get(`/v2/sms?batchId=${id}`)).data;
  await attempt(late.id);
  await workLater(id, 73 * 3_600_000);
  expect((await batchOf(api, own, id)).status).toBe('completed');
  await advanceClock(30 * dayMs);
  await purge();
  expect(await links()).toMatchObject([{ ...clicked, messages: 2 }]);
  await advanceClock(2 * dayMs);
  await purge();
  expect((await batchOf(api, own, id)).status).toBe(404);
  expect(await query('SELECT 1 FROM short_link_totals')).toEqual([]);
});
