import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { isRedisUp } from '../../support/database/redis-up.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import * as carrier from '../../support/servers/smpp-carrier.ts';
import { startSmsc } from '../../support/servers/smsc.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const recipient = '+447407000001';
const hourMs = 3_600_000;

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await textingWorkspace();
});

test.each([
  { what: 'the rate of its gateway', settings: { perSecond: 0.001 }, seconds: 0.2, says: { id: 'never' } },
  { what: 'a carrier that throttles', settings: {}, seconds: 10, says: { status: 0x58 } },
  { what: 'a carrier whose queue is full', settings: {}, seconds: 10, says: { status: 0x14 } },
])('a text that waits for $what does not expire: others are taken', async ({ settings, seconds, says }) => {
  const smsc = await startSmsc();
  onTestFinished(() => smsc.close());
  await carrier.useCarrier(smsc, settings);
  // Without Redis a process uses its own share of the rate; Redis would then grant a text more.
  await waitFor('Redis is there', isRedisUp);
  const first = await sendSms(api, own, { recipient });
  expect(await attempt(first.id)).toBe('done');
  expect((await smsOf(own, first.id)).status).toBe('sent');
  smsc.submit = () => says;
  changeSettings({ SMS_TIMEOUT_SECONDS: seconds });
  const { id } = await sendSms(api, own, { recipient });
  for (const retries of [1, 2]) {
    await attempt(id);
    expect(await smsOf(own, id)).toMatchObject({ status: 'queued', retries });
    await advanceClock(49 * hourMs);
  }
});
