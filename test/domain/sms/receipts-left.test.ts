import { expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import { insertUnmatchedReceipt } from '../../../shared/db/sms/receipts.system.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { apply, follow, matchLeft } from '../../../shared/domain/sms/gateways/receipts.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { closeEverything } from '../../../shared/lifecycle.ts';
import { startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

test('a sweep reads few of many receipts that match nothing, and reaches one far behind after some runs', async () => {
  const [api, own] = [await startApi(), await textingWorkspace()];
  const { id } = await sendSms(api, own);
  await attempt(id);
  const message = await smsOf(own, id);
  expect(message.status).toBe('sent');
  const gateway = message.gateway!;
  await query("UPDATE sms_messages SET gateway_reference = 'z' WHERE id = ?", [idToBytes(id)]);
  const strange = Array.from({ length: 20_000 }, (_, index) => [gateway, `y ${index} 1`, now()]);
  await query('INSERT INTO sms_receipts_unmatched (gateway, reference, received_at) VALUES ?', [strange]);
  await insertUnmatchedReceipt({ gateway, reference: 'z', reason: null }, now());

  expect(await rowsRead(() => matchLeft(500))).toBeLessThan(20_000);
  await waitFor('the receipt is applied', async () => {
    await matchLeft(500);
    return (await smsOf(own, id)).status === 'delivered';
  });
});

test('a process that closed its connections looks at the receipts from the first one again', async () => {
  await query('DELETE FROM sms_receipts_unmatched');
  await matchLeft(1);
  const [api, own] = [await startApi(), await textingWorkspace()];
  const texts = await Promise.all(
    ['a', 'b', 'c'].map(async (reference) => {
      const { id } = await sendSms(api, own);
      await attempt(id);
      await query('UPDATE sms_messages SET gateway_reference = ? WHERE id = ?', [reference, idToBytes(id)]);
      return { id, gateway: (await smsOf(own, id)).gateway!, reference, reason: null };
    }),
  );
  const statuses = () => Promise.all(texts.map(async ({ id }) => (await smsOf(own, id)).status));
  const [first, ...others] = texts;
  for (const receipt of others) await insertUnmatchedReceipt(receipt, now());
  await matchLeft(1);
  expect(await statuses()).toEqual(['sent', 'delivered', 'sent']);
  await insertUnmatchedReceipt(first!, now());
  await closeEverything();
  await matchLeft(1);
  expect(await statuses()).toEqual(['delivered', 'delivered', 'sent']);
});

test('texts whose results are not written do not keep the receipts of others waiting', async () => {
  const [api, own] = [await startApi(), await textingWorkspace()];
  const { id } = await sendSms(api, own);
  await attempt(id);
  const message = await smsOf(own, id);
  const receipt = (reference: string) => apply({ gateway: message.gateway!, reference, reason: null });
  const stuck = ['stuck 1', 'stuck 2'];
  for (const gatewayReference of stuck)
    follow({ ...message, gatewayReference }, undefined, new Promise(() => undefined));
  const early = stuck.map(receipt);
  expect(await receipt(message.gatewayReference!)).toEqual({ isKnown: true });
  expect((await smsOf(own, id)).status).toBe('delivered');
  // They are stored, and applied once their texts are known.
  expect(await Promise.all(early)).toEqual([{ isKnown: false }, { isKnown: false }]);
  await query("UPDATE sms_messages SET status = 'sent', gateway_reference = 'stuck 2' WHERE id = ?", [
    idToBytes(id),
  ]);
  await waitFor('the receipt is applied', async () => {
    await matchLeft(500);
    return (await smsOf(own, id)).status === 'delivered';
  });
});
