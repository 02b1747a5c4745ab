import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import { findLedgerTotals } from '../../../shared/db/sms/ledger-sums.ts';
import * as reports from '../../../shared/domain/reports/reports.ts';
import * as balance from '../../../shared/domain/sms/balance.ts';
import { attempt } from '../../../shared/domain/sms/batches/batches.ts';
import * as smsDelivery from '../../../shared/domain/sms/delivery/delivery.ts';
import * as smsHeld from '../../../shared/domain/sms/held.ts';
import * as smsLedger from '../../../shared/domain/sms/ledger.ts';
import * as prices from '../../../shared/domain/sms/prices.ts';
import { idFromBytes, idToBytes, newUuid } from '../../../shared/formats/ids.ts';
import { parseMoney } from '../../../shared/formats/money.ts';
import type { Submission } from '../../../shared/transports/sms.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { messagesTo, newBatch } from '../../support/data/new-batch.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { countAll } from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { rowsRead } from '../../support/database/rows-read.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0311,0.0350,2020-01-01\nFR,0.0407,0.0410,2020-01-01\n');
});

const kinds = ['text', 'batch', 'credit', 'debit', 'cancel', 'work', 'send', 'wait', 'sum', 'kill'] as const;
const step = fc.record({
  what: fc.constantFrom(...kinds, 'text', 'batch', 'send'),
  number: fc.nat(1000),
});

const refused = { kind: 'refused', code: 'no', detail: 'No', retryable: false } as const;
/** Answers of a gateway; with some of them the gateway has taken only some parts of a text. */
const submissions: ((id: string) => Submission)[] = [
  (id) => ({ kind: 'accepted', reference: id }),
  () => refused,
  () => ({ kind: 'later', detail: 'Later' }),
  () => ({ kind: 'unavailable', detail: 'No answer' }),
  (id) => ({ ...refused, parts: [{ part: 2, reference: `${id}-2` }] }),
  (id) => ({ kind: 'later', detail: 'Later', parts: [{ part: 1, reference: `${id}-1` }] }),
];
const tags = [null, 'offer', 'code'];
const amountOf = ({ gbp }: { gbp: string }) => parseMoney(gbp)!;

test('ledger, rollups and balance agree to the ten-thousandth, whatever is sent, paid, cancelled and killed', async () => {
  const gateway = useTextGateway();
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 25 }),
      fc.boolean(),
      async (steps, endsUnlimited) => {
        const own = await textingWorkspace();
        const { workspaceId } = own;
        const workspace = idToBytes(workspaceId);
        let first = 0;
        await balance.add(workspaceId, 3_000, null);
        const idsOf = async (prefix: 'sms' | 'batch', table: string, limit = 100) =>
          (
            await query<{ id: Buffer }[]>(
              `SELECT id FROM ${table} WHERE workspace_id = ? AND status = 'queued' ORDER BY id LIMIT ?`,
              [workspace, limit],
            )
          ).map(({ id }) => idFromBytes(prefix, id));

        const take = async ({ what, number }: { what: string; number: number }): Promise<void> => {
          const clientTag = tags[number % 3]!;
          if (what === 'text')
            await sendSms(api, own, {
              // Not one of the simulator's numbers: the gateway of this test takes the text.
              recipient: '+447407000000',
              clientTag,
              content: number % 2 ? 'x'.repeat(161) : 'Hello',
              ...(number % 5 === 0 && { scheduledAt: new Date(now().getTime() + 7_200_000).toISOString() }),
            });
          if (what === 'batch') {
            const rows = 1 + (number % 8);
            await newBatch(api, own, { messages: messagesTo(rows, first), content: 'Hello', clientTag });
            first += rows;
          }
          if (what === 'credit') await balance.add(workspaceId, 1 + number * 7, null);
          if (what === 'debit') {
            const left = (await balance.find(workspaceId))!;
            if (left > 0) await balance.add(workspaceId, -(1 + (number % left)), null);
          }
          if (what === 'cancel') {
            for (const text of await idsOf('sms', 'sms_messages', 3))
              await api.request('DELETE', `/v2/sms/${text}`, { key: own.key });
          }
          if (what === 'work') {
            for (const id of await idsOf('batch', 'sms_batches')) while ((await attempt(id)) === 'done');
            await smsHeld.release(workspaceId);
          }
          if (what === 'send')
            for (const id of await idsOf('sms', 'sms_messages', 1 + (number % 6))) {
              const { parts, ...said } = submissions[Math.floor(number / 6) % submissions.length]!(id);
              gateway.says = async () => {
                const isOfMany = gateway.taken.at(-1)!.parts > 1;
                return parts && isOfMany ? { ...said, parts } : said;
              };
              await smsDelivery.attempt(id);
            }
          if (what === 'wait') await advanceClock(number * 1_000);
          if (what === 'sum') await smsLedger.sumUp();
          if (what === 'kill') {
            // The transaction loses all sums, as when the process is killed before the commit.
            const killed = transaction(async () => {
              await smsLedger.sumUp();
              throw new Error('killed');
            });
            await expect(killed).rejects.toThrow('killed');
          }
        };
        const check = async () => {
          await countAll();
          const { total, byCountry, byKey, byClientTag, ledger, ...spend } = await reports.spend(own, {});
          expect(spend.balance).toEqual(
            (await balance.find(workspaceId)) === null ? null : { gbp: ledger.change.gbp },
          );
          const { charges, refunds, credits, closed, carried, change } = ledger;
          expect(
            [charges, refunds, credits, closed, carried].reduce((sum, one) => sum + amountOf(one), 0),
          ).toBe(amountOf(change));
          for (const rows of [byCountry, byKey, byClientTag])
            expect({
              messages: rows.reduce((sum, { messages }) => sum + messages, 0),
              parts: rows.reduce((sum, { parts }) => sum + parts, 0),
              gbp: rows.reduce((sum, { cost }) => sum + amountOf(cost), 0),
            }).toEqual({ messages: total.messages, parts: total.parts, gbp: amountOf(total.cost) });
          // The charges cover exactly the cost in the report, and nothing else.
          expect(amountOf(total.cost) + amountOf(charges) + amountOf(refunds)).toBe(0);
        };
        for (const one of steps) {
          await take(one);
          await check();
        }
        if (!endsUnlimited) return;
        await balance.makeUnlimited(workspaceId);
        const { ledger } = await reports.spend(own, {});
        expect(ledger.change).toEqual({ gbp: '0.0000' });
      },
    ),
    { numRuns: 4 },
  );
}, 300_000);

test('entries that are folded stay in the sums of their hours, and what is carried is not counted twice', async () => {
  const own = await textingWorkspace();
  await balance.add(own.workspaceId, 10_000, null);
  await sendSms(api, own);
  const before = await reports.spend(own, {});
  await query('DELETE FROM sms_messages WHERE workspace_id = ?', [idToBytes(own.workspaceId)]);
  await advanceClock(20 * 60_000);
  expect(await smsLedger.fold(new Date(Date.now() + 86_400_000), 100)).toBe(1);
  const kinds = (await balance.listLedger(own.workspaceId, 10)).map(({ kind }) => kind);
  expect(kinds).toEqual(['credit', 'carried']);
  const after = await reports.spend(own, {});
  expect(after.ledger).toEqual(before.ledger);
});

test('of a ledger of thousands of entries only the newest are read', async () => {
  const own = await textingWorkspace();
  const at = new Date(now().getTime() + 3_600_000);
  await query('INSERT INTO sms_ledger (id, workspace_id, kind, amount, created_at) VALUES ?', [
    Array.from({ length: 3_000 }, () => [newUuid(at), idToBytes(own.workspaceId), 'credit', 1, at]),
  ]);
  await advanceClock(2 * 3_600_000);
  await smsLedger.sumUp();
  await balance.add(own.workspaceId, 5, null);
  const hour = Math.floor(at.getTime() / 3_600_000);
  const look = () => findLedgerTotals(own.workspaceId, hour - 24, hour + 24);
  expect((await look()).sums).toEqual({ credit: 3_005 });
  expect(await rowsRead(look)).toBeLessThan(50);
});
