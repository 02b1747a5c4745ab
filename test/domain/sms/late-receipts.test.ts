import { expect, test } from 'vitest';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query } from '../../../shared/db/client.ts';
import { purge } from '../../../shared/domain/operations/retention.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { apply } from '../../../shared/domain/sms/gateways/receipts.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

const dayMs = 86_400_000;

/** Sends a text of three parts, whose first part has the reference of the whole. */
async function sentInParts(api: Client, name: string) {
  changeSettings({ SMS_GATEWAYS: undefined });
  const gateway = useTextGateway();
  const references = [1, 2, 3].map((part) => ({ part, reference: `${name}-${part}` }));
  gateway.says = () => Promise.resolve({ kind: 'accepted', reference: `${name}-1`, parts: references });
  const own = await textingWorkspace();
  const { id } = await sendSms(api, own, { recipient: '+447407000001', content: 'x'.repeat(400) });
  await attempt(id);
  const message = await smsOf(own, id);
  expect(message).toMatchObject({ status: 'sent', gateway: 'network', parts: 3 });
  gateway.stop();
  return {
    report: (part: number) =>
      apply({ gateway: message.gateway!, reference: `${name}-${part}`, reason: null }),
    status: async () => (await smsOf(own, id)).status,
  };
}

test.each([
  [8, undefined],
  [15, 336],
  [33, 743],
])(
  'a text of several parts is delivered by the receipts of all of them after %i days, too',
  async (days, validityHours) => {
    const api = await startApi();
    const text = await sentInParts(api, `late${days}`);
    const carrier = { name: 'acme', type: 'smpp', url: 'smpp://user:password@smpp.example', validityHours };
    changeSettings({ SMS_GATEWAYS: gatewayList.parse(JSON.stringify([carrier])) });
    await advanceClock(days * dayMs);
    await purge();
    await text.report(1);
    expect(await text.status()).toBe('sent');
    await text.report(2);
    await text.report(3);
    expect(await text.status()).toBe('delivered');
  },
);

test('the parts of texts go some days after no receipt can come any more', async () => {
  const api = await startApi();
  await sentInParts(api, 'old');
  await advanceClock(10 * dayMs + 60_000);
  await purge();
  expect(await query("SELECT part FROM sms_parts WHERE reference LIKE 'old%'")).toEqual([]);
});
