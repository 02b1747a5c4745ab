import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { nowForAll } from '../../../../shared/common/clock.ts';
import { query } from '../../../../shared/db/client.ts';
import { claimBatch } from '../../../../shared/db/sms/batches/batches.system.ts';
import * as balance from '../../../../shared/domain/sms/balance.ts';
import { attempt } from '../../../../shared/domain/sms/batches/batches.ts';
import * as smsDelivery from '../../../../shared/domain/sms/delivery/delivery.ts';
import * as smsReceipts from '../../../../shared/domain/sms/gateways/receipts.ts';
import * as smsHeld from '../../../../shared/domain/sms/held.ts';
import * as prices from '../../../../shared/domain/sms/prices.ts';
import * as recovery from '../../../../shared/domain/work/recovery.ts';
import { idFromBytes, idToBytes } from '../../../../shared/formats/ids.ts';
import type { Submission } from '../../../../shared/transports/sms.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { messagesTo, newBatch } from '../../../support/data/new-batch.ts';
import { sendSms, textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { useTextGateway } from '../../../support/servers/text-gateway.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

type Step =
  | { kind: 'batch'; rows: number; long: boolean }
  | { kind: 'text' }
  | { kind: 'credit'; amount: number }
  | { kind: 'price'; gbp: number }
  | { kind: 'work'; lost: boolean }
  | { kind: 'send'; count: number; outcome: number }
  | { kind: 'receive'; fails: boolean }
  | { kind: 'cancel' }
  | { kind: 'suppress'; index: number }
  | { kind: 'wait'; seconds: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('batch'), rows: fc.integer({ min: 1, max: 12 }), long: fc.boolean() }),
  fc.record({ kind: fc.constant('text') }),
  fc.record({ kind: fc.constant('credit'), amount: fc.integer({ min: 1, max: 5_000 }) }),
  fc.record({ kind: fc.constant('price'), gbp: fc.integer({ min: 1, max: 999 }) }),
  fc.record({ kind: fc.constant('work'), lost: fc.boolean() }),
  fc.record({
    kind: fc.constant('send'),
    count: fc.integer({ min: 1, max: 8 }),
    outcome: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({ kind: fc.constant('receive'), fails: fc.boolean() }),
  fc.record({ kind: fc.constant('cancel') }),
  fc.record({ kind: fc.constant('suppress'), index: fc.integer({ min: 0, max: 20 }) }),
  fc.record({ kind: fc.constant('wait'), seconds: fc.integer({ min: 1, max: 90 }) }),
);

const submissions: ((id: string) => Submission)[] = [
  (id) => ({ kind: 'accepted', reference: id }),
  () => ({ kind: 'refused', code: 'no', detail: 'No', retryable: false }),
  () => ({ kind: 'later', detail: 'Later' }),
  () => ({ kind: 'unavailable', detail: 'No answer' }),
];

test('whatever happens, the balance never falls below zero, and what was charged and not refunded is the cost of what was handed over', async () => {
  const gateway = useTextGateway();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const own = await textingWorkspace();
      const { workspaceId } = own;
      const workspace = idToBytes(workspaceId);
      let first = 0;
      await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
      await balance.add(workspaceId, 1_000, null);

      const batches = async () =>
        (
          await query<{ id: Buffer }[]>(
            "SELECT id FROM sms_batches WHERE workspace_id = ? AND status = 'queued'",
            [workspace],
          )
        ).map(({ id }) => idFromBytes('batch', id));
      const work = async () => {
        for (const id of await batches()) while ((await attempt(id)) === 'done');
        await smsHeld.release(workspaceId);
      };
      const send = async (count: number, outcome: number) => {
        const rows = await query<{ id: Buffer }[]>(
          "SELECT id FROM sms_messages WHERE workspace_id = ? AND status = 'queued' ORDER BY id LIMIT ?",
          [workspace, count],
        );
        for (const { id } of rows) {
          const smsId = idFromBytes('sms', id);
          gateway.says = () => Promise.resolve(submissions[outcome]!(smsId));
          await smsDelivery.attempt(smsId);
        }
      };
      const check = async () => {
        const [found] = await query(
          `SELECT (SELECT balance FROM sms_balances WHERE workspace_id = ?) AS balance,
             (SELECT SUM(amount) FROM sms_ledger WHERE workspace_id = ?) AS ledger,
             (SELECT SUM(-amount) FROM sms_ledger WHERE workspace_id = ? AND kind IN ('charge', 'refund')) AS paid,
             (SELECT COALESCE(SUM(cost_gbp), 0) FROM sms_messages WHERE workspace_id = ? AND (sent_at IS NOT NULL
                OR uncertain_count > 0 OR status = 'queued')) AS cost`,
          [workspace, workspace, workspace, workspace],
        );
        const [left, ledger, paid, cost] = ['balance', 'ledger', 'paid', 'cost'].map((name) =>
          Number(found![name]),
        );
        expect(left).toBeGreaterThanOrEqual(0);
        expect([ledger, paid]).toEqual([left, cost]);
      };
      const take = async (one: Step): Promise<void> => {
        switch (one.kind) {
          case 'batch':
            await newBatch(api, own, {
              messages: messagesTo(one.rows, first),
              content: one.long ? 'x'.repeat(161) : 'Hello {{ name }}',
            });
            first += one.rows;
            return;
          case 'text':
            return void (await sendSms(api, own));
          case 'credit':
            return void (await balance.add(workspaceId, one.amount, null));
          case 'price':
            return void (await prices.load(
              `country,gbp,eur,validFrom\nGB,0.${`${one.gbp}`.padStart(4, '0')},0.0350,2020-01-01\n`,
            ));
          case 'work': {
            const at = nowForAll();
            // A worker has died while it held the lease of the batches.
            if (one.lost) for (const id of await batches()) await claimBatch({ id, at, until: at });
            return work();
          }
          case 'send':
            return send(one.count, one.outcome);
          case 'receive': {
            const [taken] = await query<{ gateway: Buffer; gateway_reference: Buffer }[]>(
              "SELECT gateway, gateway_reference FROM sms_messages WHERE workspace_id = ? AND status = 'sent' LIMIT 1",
              [workspace],
            );
            const reason = {
              category: 'undeliverable',
              code: 'no',
              description: null,
              retryable: false,
            } as const;
            if (taken)
              await smsReceipts.apply({
                gateway: taken['gateway'].toString(),
                reference: taken['gateway_reference'].toString(),
                reason: one.fails ? reason : null,
              });
            return;
          }
          case 'cancel': {
            const [id] = await batches();
            if (id) await api.request('DELETE', `/v2/sms/batches/${id}`, { key: own.key });
            return;
          }
          case 'suppress': {
            const { recipient } = messagesTo(1, one.index)[0]!;
            await api.request('POST', '/v2/suppressions', { key: own.key, body: { number: recipient } });
            return;
          }
          case 'wait':
            await advanceClock(one.seconds * 1_000);
            await recovery.sweep();
        }
      };
      for (const one of steps) {
        await take(one);
        await check();
      }
      // Now everything can be paid, and the batches run to their end.
      await balance.add(workspaceId, 1_000_000, null);
      await advanceClock(61_000);
      for (let round = 0; round < 3; round += 1) {
        await work();
        await send(1_000, 0);
        await advanceClock(3_600_000);
      }
      await check();
    }),
    { numRuns: 6 },
  );
}, 300_000);
