// @slow: it starts processes or servers of its own.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query } from '../../../shared/db/client.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { closeGateways } from '../../../shared/transports/sms.ts';
import { signRequest } from '../../support/api/sign-request.ts';
import { startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { startCommitCut } from '../../support/database/commit-cut.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWeb } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';

useDatabase();

const secret = 'a-secret-of-enough-characters';
const number = '+447407000099';

// Shows F2
test('web killed between the COMMIT of a receipt or a text and its 204: what comes again changes nothing', async () => {
  const carrier = await startWebhookReceiver({ respond: { body: '{"reference":"r1"}' } });
  const list = JSON.stringify([{ name: 'carrier', type: 'http', url: carrier.url, secret }]);
  const mysql = await startCommitCut(config.MYSQL_URL);
  const survivor = await startApi();
  const { PUBLIC_URL } = config;
  const settings = { SMS_GATEWAYS: list, PUBLIC_URL, MYSQL_URL: mysql.url };
  const webs = await Promise.all([startWeb(settings), startWeb(settings)]);
  changeSettings({ SMS_GATEWAYS: gatewayList.parse(list) });
  atEnd(closeGateways);
  const own = await textingWorkspace();
  const { id: sender } = await senders.addNumber(own.workspaceId, ['GB']);
  await senders.assignNumber(sender, number);
  const text = await sendSms(survivor, own, { recipient: '+447407000001' });
  await attempt(text.id);

  const posts = {
    receipts: { id: randomUUID(), reference: 'r1', status: 'delivered' },
    messages: { id: randomUUID(), sender: '+447407000001', recipient: number, content: 'Once' },
  };
  for (const [index, [door, body]] of Object.entries(posts).entries()) {
    const post = async (base: string) => {
      const signed = {
        method: 'POST',
        url: `${PUBLIC_URL}/gateways/carrier/${door}`,
        body: JSON.stringify(body),
      };
      const headers = signRequest(signed, { keyId: 'carrier', algorithm: 'hmac_sha256', secret });
      return fetch(`${base}/gateways/carrier/${door}`, { method: 'POST', headers, body: signed.body });
    };
    const committed = mysql.holdNext('after');
    const unanswered = post(webs[index]!.url).catch(() => 'no answer');
    await committed;
    await webs[index]!.kill();
    expect(await unanswered).toBe('no answer');
    for (const _ of [1, 2]) expect((await post(survivor.url)).status).toBe(204);
  }
  expect(await smsOf(own, text.id)).toMatchObject({
    status: 'delivered',
    eventTypes: ['sms.queued', 'sms.sent', 'sms.delivered'],
  });
  const received = await query("SELECT content FROM sms_messages WHERE direction = 'inbound'");
  expect(received).toEqual([{ content: 'Once' }]);
});
