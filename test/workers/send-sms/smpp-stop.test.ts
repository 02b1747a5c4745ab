import { expect, onTestFinished, test } from 'vitest';
import * as smsGateways from '../../../shared/domain/sms/gateways/gateways.ts';
import { startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { useCarrier } from '../../support/servers/smpp-carrier.ts';
import { startSmsc } from '../../support/servers/smsc.ts';
import { waitFor } from '../../support/time/wait-for.ts';

// The carrier answers as late as a slow machine lets it.
changeSettings({ SMS_TIMEOUT_SECONDS: 60 });
useDatabase();

test('a worker that stops waits for the answer to the text in flight, which goes out once', async () => {
  const [api, own, smsc] = await Promise.all([startApi(), textingWorkspace(), startSmsc()]);
  onTestFinished(() => smsc.close());
  await useCarrier(smsc);
  await smsGateways.stop();
  const workers = await runWorkers(['send-sms']);
  const reply = Promise.withResolvers<{ id: string }>();
  smsc.submit = () => reply.promise;
  const { id } = await sendSms(api, own, { recipient: '+447407000001' });
  await waitFor('it is taken', () => smsc.taken.length === 1);
  const unbinds = smsc.unbinds;
  const stopped = workers.stop();
  await smsc.roundTrips();
  expect(smsc.unbinds).toBe(unbinds);
  reply.resolve({ id: 'late' });
  await stopped;
  expect(await smsOf(own, id)).toMatchObject({ status: 'sent', uncertainCount: 0 });
  expect([smsc.taken.length, smsc.unbinds]).toEqual([1, unbinds + 1]);
});
