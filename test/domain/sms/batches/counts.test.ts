import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import { listSms } from '../../../../shared/db/sms/listings.ts';
import { attempt } from '../../../../shared/domain/sms/batches/batches.ts';
import * as smsDelivery from '../../../../shared/domain/sms/delivery/delivery.ts';
import * as smsReceipts from '../../../../shared/domain/sms/gateways/receipts.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { batchOf, messagesTo, newBatch, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { useTextGateway } from '../../../support/servers/text-gateway.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

const statuses = ['queued', 'sent', 'delivered', 'failed', 'cancelled'] as const;

/** Reads the counts and the rows in one statement, so that both are of the same moment. */
async function looked(batchId: string) {
  const id = idToBytes(batchId);
  const [row] = await query(
    `SELECT * FROM (SELECT SUM(waiting) AS waiting, ${statuses.map((name) => `SUM(${name}) AS ${name}`).join(', ')},
        SUM(parts) AS parts, SUM(cost_gbp) AS cost FROM sms_batch_counts WHERE batch_id = ?) AS counts
      JOIN (SELECT ${statuses.map((name) => `COALESCE(SUM(status = '${name}'), 0) AS its_${name}`).join(', ')},
        COUNT(*) AS messages, COALESCE(SUM(parts), 0) AS its_parts FROM sms_messages WHERE batch_id = ?) AS messages
      JOIN (SELECT COUNT(*) AS its_rows FROM sms_batch_rows WHERE batch_id = ?) AS kept_rows`,
    [id, id, id],
  );
  return Object.fromEntries(Object.entries(row!).map(([name, value]) => [name, Number(value)])) as Record<
    string,
    number
  >;
}

test('at every moment the counts are those of the messages, amid expanding, sending, receipts, failures and cancelling', async () => {
  const own = await textingWorkspace();
  const gateway = useTextGateway();
  let said = 0;
  const taken: string[] = [];
  gateway.says = () => {
    said += 1;
    if (said % 7 === 0)
      return Promise.resolve({ kind: 'refused', code: 'no', detail: 'No', retryable: false });
    if (said % 11 === 0) return Promise.resolve({ kind: 'later', detail: 'Later' });
    taken.push(`${said}`);
    return Promise.resolve({ kind: 'accepted', reference: `${said}` });
  };
  const rows = 1_500;
  const { id } = await newBatch(api, own, { messages: messagesTo(rows), content: 'Dear {{ name }}, hello' });
  for (const { recipient } of messagesTo(40, 700))
    await api.request('POST', '/v2/suppressions', { key: own.key, body: { number: recipient } });

  let isOver = false;
  let looks = 0;
  const looking = (async () => {
    while (!isOver) {
      const found = await looked(id);
      for (const name of statuses) expect([name, found[name]]).toEqual([name, found[`its_${name}`]]);
      expect([found['parts'], found['waiting']! + found['messages']!]).toEqual([found['its_parts'], rows]);
      looks += 1;
    }
  })();
  // The test awaits `looking` at the end, and a failure shows there.
  looking.catch(() => undefined);

  const sending = async () => {
    const { records } = await listSms(
      own.workspaceId,
      { batchId: id, status: 'queued' },
      { limit: 200, before: null },
    );
    await Promise.all(records.map((message) => smsDelivery.attempt(message.id)));
    const references = taken.splice(0);
    await Promise.all(
      references.map((reference, index) =>
        smsReceipts.apply({
          gateway: 'network',
          reference,
          reason:
            index % 3 === 0
              ? { category: 'undeliverable', code: 'no', description: null, retryable: false }
              : null,
        }),
      ),
    );
  };
  await Promise.all([workOff(id), sending()]);
  for (let round = 0; round < 3; round += 1) await sending();
  const cancelling = api.request('DELETE', `/v2/sms/batches/${id}`, { key: own.key });
  await Promise.all([cancelling, sending()]);
  await Promise.all([sending(), attempt(id)]);
  await advanceClock(60_000);
  await workOff(id);
  isOver = true;
  await looking;

  const { counts } = await batchOf(api, own, id);
  expect(counts).toMatchObject({ total: rows, waiting: 0 });
  for (const name of ['delivered', 'failed', 'cancelled']) expect(counts[name]).toBeGreaterThan(20);
  expect(looks).toBeGreaterThan(10);
});
