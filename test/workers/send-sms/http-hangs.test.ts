import { expect, onTestFinished, test } from 'vitest';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { closeGateways } from '../../../shared/transports/sms.ts';
import { startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { answers, startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const window = 10;

test('a gateway by HTTP that hangs does not hold up the texts of its customer that go by another', async () => {
  const [hanging, sound] = [
    await startWebhookReceiver({ respond: answers.hang }),
    await startWebhookReceiver({ respond: { body: JSON.stringify({ reference: 'taken' }) } }),
  ];
  const gateway = (name: string, url: string, changes = {}) => ({
    name,
    type: 'http',
    url,
    secret: 'a-secret-of-enough-characters',
    window,
    ...changes,
  });
  changeSettings({
    // Longer than the whole test, so that no text is given up; a pause after a given-up text would help the others.
    SMS_TIMEOUT_SECONDS: 60,
    SMS_CONCURRENCY: 20,
    SMS_GATEWAYS: gatewayList.parse(
      JSON.stringify([
        gateway('hanging', hanging.url, { prefixes: ['+4474070002'] }),
        gateway('sound', sound.url),
      ]),
    ),
  });
  atEnd(closeGateways);
  const api = await startApi();
  const own = await textingWorkspace();
  const send = (prefix: string) => (_: unknown, index: number) =>
    sendSms(api, own, { recipient: `${prefix}${String(index).padStart(2, '0')}` });
  const held = await Promise.all(Array.from({ length: 40 }, send('+4474070002')));
  const workers = await runWorkers(['send-sms']);
  onTestFinished(async () => {
    await hanging.close();
    await workers.stop();
  });
  await waitFor('the gateway has as many as it may', () => hanging.requests.length === window);
  const others = await Promise.all(Array.from({ length: 40 }, send('+4474070003')));
  for (const { id } of others)
    await waitFor('it is sent', async () => (await smsOf(own, id)).status === 'sent');
  // Of the hanging texts none has ended, and none beyond the window was posted.
  expect(hanging.requests).toHaveLength(window);
  const ends = await Promise.all(held.map(({ id }) => smsOf(own, id)));
  expect(new Set(ends.map(({ status, uncertainCount }) => `${status} ${uncertainCount}`))).toEqual(
    new Set(['queued 0']),
  );
});
