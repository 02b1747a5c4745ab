import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query } from '../../../shared/db/client.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { closeGateways } from '../../../shared/transports/sms.ts';
import { signRequest } from '../../support/api/sign-request.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { countOf } from '../../support/database/counts.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';

useDatabase();

const secret = 'a-secret-of-enough-characters';
const phone = '+447407000001';
const number = '+447407000099';
const at = '2026-11-24T10:00:00Z';

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let sent: string;
beforeAll(async () => {
  const carrier = await startWebhookReceiver({
    respond: ({ body }) => ({ body: JSON.stringify({ reference: JSON.parse(body.toString()).id }) }),
  });
  const list = [{ name: 'carrier', type: 'http', url: carrier.url, secret }];
  changeSettings({ SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)) });
  atEnd(closeGateways);
  api = await startApi();
  own = await textingWorkspace();
  await senders.assignNumber((await senders.addNumber(own.workspaceId, ['GB'])).id, number);
  sent = (await sendSms(api, own, { recipient: phone })).id;
  await attempt(sent);
  expect(carrier.requests).toHaveLength(1);
});

/** Posts a body as the carrier does. */
async function post(door: string, body: object): Promise<number> {
  const [url, text] = [`${api.url}/gateways/carrier/${door}`, JSON.stringify(body)];
  const signer = { keyId: 'carrier', algorithm: 'hmac_sha256', secret } as const;
  const headers = signRequest({ method: 'POST', url, body: text }, signer);
  return (await fetch(url, { method: 'POST', headers, body: text })).status;
}

const inbound = async () =>
  (await query("SELECT content FROM sms_messages WHERE direction = 'inbound'")).map((row) => row['content']);

test.each([
  {
    door: 'receipts',
    body: () => ({ reference: sent, part: null, status: 'delivered', errorCode: null, at }),
    effect: async () => (await smsOf(own, sent)).status,
    before: 'sent',
    after: 'delivered',
  },
  {
    door: 'messages',
    body: () => ({ sender: phone, recipient: number, content: 'Hello', receivedAt: at }),
    effect: inbound,
    before: [],
    after: ['Hello'],
  },
])(
  'of $door what cannot be kept is put off and counted, and taken when it is posted again',
  async (given) => {
    const { door, body, effect, before, after } = given;
    const said = { id: randomUUID(), ...body() };
    const putOff = () => countOf('sms_gateway_put_off{gateway="carrier"}');
    const counted = await putOff();
    await query('RENAME TABLE sms_gateway_posts TO sms_gateway_posts_away');
    try {
      expect(await post(door, said)).toBe(500);
    } finally {
      await query('RENAME TABLE sms_gateway_posts_away TO sms_gateway_posts');
    }
    expect(await putOff()).toBe(counted + 1);
    expect(await effect()).toEqual(before);
    expect(await post(door, said)).toBe(204);
    expect(await effect()).toEqual(after);
    expect(await putOff()).toBe(counted + 1);
  },
);
