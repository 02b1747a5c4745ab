import { expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { purge } from '../../../shared/domain/operations/retention.ts';
import * as balance from '../../../shared/domain/sms/balance.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as prices from '../../../shared/domain/sms/prices.ts';
import { startApi } from '../../support/api/start-api.ts';
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
  const scheduledAt = new Date(now().getTime() + 89 * dayMs).toISOString();
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
