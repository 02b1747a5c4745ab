import { expect, onTestFinished, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { closeGateways } from '../../../shared/transports/sms.ts';
import { startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import {
  answers,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/servers/webhook-receiver.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const timeoutSeconds = 60;

// Shows F13
test('a text whose worker died at one of two gateways goes to that gateway again', async () => {
  const carriers = {
    one: await startWebhookReceiver({ respond: answers.hang }),
    two: await startWebhookReceiver({ respond: answers.hang }),
  };
  const list = Object.entries(carriers).map(([name, { url }]) => ({
    name,
    type: 'http',
    url,
    // The same priority, so that each text draws its gateway by lot.
    priority: 0,
    window: 50,
    secret: 'a-secret-of-enough-characters',
  }));
  changeSettings({
    SMS_TIMEOUT_SECONDS: timeoutSeconds,
    SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)),
  });
  atEnd(closeGateways);
  const api = await startApi();
  const own = await textingWorkspace();
  const texts = await Promise.all(
    Array.from({ length: 20 }, () => sendSms(api, own, { recipient: '+447407000001' })),
  );
  const ids = texts.map(({ id }) => id as string);
  const takenBy = ({ requests }: WebhookReceiver) =>
    requests.map(({ body }) => JSON.parse(body.toString()).id as string);
  const countTaken = () => carriers.one.requests.length + carriers.two.requests.length;

  const first = ids.map((id) => attempt(id));
  onTestFinished(async () => {
    await Promise.all(Object.values(carriers).map((carrier) => carrier.close()));
    await Promise.all(first);
  });
  await waitFor('the gateways have all', () => countTaken() === ids.length);
  const drawn = { one: takenBy(carriers.one), two: takenBy(carriers.two) };
  expect([drawn.one.length > 0, drawn.two.length > 0]).toEqual([true, true]);
  // Until there is an outcome the text counts as one that a gateway may still give back.
  expect(await smsOf(own, ids[0]!)).toMatchObject({ gateway: null, uncertainCount: 0 });

  // The workers die: their leases end, and nobody writes an outcome.
  await query('UPDATE sms_messages SET lease_token = NULL WHERE id IN (?)', [ids.map(idToBytes)]);
  await advanceClock((Math.max(config.LEASE_SECONDS, 2 * timeoutSeconds) + 1) * 1000);
  carriers.one.respondWith({ body: JSON.stringify({ reference: 'taken' }) });
  carriers.two.respondWith({ ...answers.tooManyRequests(), body: '{}' });
  await Promise.all(ids.map((id) => attempt(id)));
  for (const name of ['one', 'two'] as const)
    expect(takenBy(carriers[name]).toSorted()).toEqual([...drawn[name], ...drawn[name]].toSorted());
  for (const id of drawn.one)
    expect(await smsOf(own, id)).toMatchObject({ status: 'sent', gateway: 'one', handoverGateway: null });
  // A gateway that is busy will have the text again. The row names it, and no hand-over is under way.
  const waiting = {
    status: 'queued',
    gateway: 'two',
    uncertainCount: 1,
    handoverAt: null,
    handoverGateway: 'two',
  };
  for (const id of drawn.two) expect(await smsOf(own, id)).toMatchObject(waiting);
});
