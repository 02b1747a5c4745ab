import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import * as balance from '../../../shared/domain/sms/balance.ts';
import * as smsDelivery from '../../../shared/domain/sms/delivery/delivery.ts';
import * as smsHeld from '../../../shared/domain/sms/held.ts';
import * as smsLedger from '../../../shared/domain/sms/ledger.ts';
import * as prices from '../../../shared/domain/sms/prices.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { postSms } from '../../support/data/new-sms.ts';
import { countAll } from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';

useDatabase();

// Prices in ten-thousandths of a pound or a euro.
const priceOf = { GB: { gbp: 311, eur: 350 }, FR: { gbp: 407, eur: 410 } } as const;
const numbers = { GB: '+447700900123', FR: '+33612345678' } as const;
const tags = [null, 'offer', 'code'];
const amount = (value: number) => (value / 10_000).toFixed(4);

let api: Client;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0311,0.0350,2020-01-01\nFR,0.0407,0.0410,2020-01-01\n');
});

type Sent = { id: string; country: 'GB' | 'FR'; parts: number; keyId: string; clientTag: string | null };

/** Returns the expected spend, added up from each message, its outcome, and each payment. */
function spendOf(sent: Sent[], isPaid: (id: string) => boolean) {
  const paid = sent.filter(({ id }) => isPaid(id));
  const sum = (some: Sent[]) => {
    const cost = (currency: 'gbp' | 'eur') =>
      amount(some.reduce((total, { country, parts }) => total + parts * priceOf[country][currency], 0));
    return {
      messages: some.length,
      parts: some.reduce((total, { parts }) => total + parts, 0),
      cost: { gbp: cost('gbp'), eur: cost('eur') },
    };
  };
  const by = (field: 'country' | 'keyId' | 'clientTag') =>
    Object.fromEntries(
      [...Map.groupBy(paid, (one) => String(one[field]))].map(([name, some]) => [name, sum(some)]),
    );
  return { total: sum(paid), byCountry: by('country'), byKey: by('keyId'), byClientTag: by('clientTag') };
}

const named = (rows: any[], field: string) =>
  Object.fromEntries(rows.map(({ [field]: name, ...spend }) => [String(name), spend]));

const step = fc.record({
  what: fc.constantFrom('text', 'text', 'text', 'send', 'send', 'cancel', 'pay', 'take', 'release', 'sum'),
  number: fc.nat(1000),
});

test('the spend of a workspace is what a ledger kept by hand comes to, after whatever is sent, cancelled, refused and paid', async () => {
  const gateway = useTextGateway();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 20, size: 'max' }), async (steps) => {
      const own = await workspace();
      await senders.addApproved(own.workspaceId, 'Acme', ['GB', 'FR']);
      const second = (await api.request('POST', '/v2/api-keys', { key: own.key, body: {} })).body;
      const keys = [
        { id: own.keyId, key: own.key },
        { id: second.id, key: second.key },
      ];
      const sent: Sent[] = [];
      const charged = new Set<string>();
      let [credits, statuses] = [0, new Map<string, { status: string; sentAt: string | null }>()];
      const pay = async (value: number) => {
        await balance.add(own.workspaceId, value, null);
        credits += value;
      };
      const look = async () => {
        const { data } = (await api.request('GET', '/v2/sms?limit=200', { key: own.key })).body;
        statuses = new Map(data.map((text: any) => [text.id, text]));
        for (const [id, { status }] of statuses)
          if (status === 'queued' || status === 'sent') charged.add(id);
      };
      const isFree = (id: string) => {
        const { status, sentAt } = statuses.get(id)!;
        return status === 'held' || status === 'cancelled' || (status === 'failed' && sentAt === null);
      };
      const sumOf = (ids: Iterable<string>) =>
        [...ids].reduce((total, id) => {
          const { country, parts } = sent.find((one) => one.id === id)!;
          return total + parts * priceOf[country].gbp;
        }, 0);
      const left = () => credits - sumOf(charged) + sumOf([...charged].filter(isFree));
      const some = (status: string, count: number) =>
        [...statuses]
          .filter(([, text]) => text.status === status)
          .slice(0, count)
          .map(([id]) => id);

      const take = async ({ what, number }: { what: string; number: number }) => {
        const { id: keyId, key } = keys[number % 2]!;
        if (what === 'text') {
          const country = number % 3 === 0 ? 'FR' : 'GB';
          const [parts, clientTag] = [1 + (number % 2), tags[number % 3]!];
          const answer = await postSms(
            api,
            own,
            {
              recipient: numbers[country],
              content: 'x'.repeat(parts === 1 ? 100 : 161),
              clientTag,
              ...(number % 5 === 0 && { scheduledAt: new Date(now().getTime() + 7_200_000).toISOString() }),
            },
            key,
          );
          expect(answer.status).toBe(201);
          sent.push({ id: answer.body.id, country, parts, keyId, clientTag });
        }
        if (what === 'pay') await pay(1 + number);
        if (what === 'take' && left() > 0) await pay(-(1 + (number % left())));
        if (what === 'release') await smsHeld.release(own.workspaceId);
        if (what === 'sum') await smsLedger.sumUp();
        if (what === 'cancel')
          for (const id of [...some('queued', 1), ...some('held', 1)])
            await api.request('DELETE', `/v2/sms/${id}`, { key: own.key });
        if (what === 'send')
          for (const [index, id] of some('queued', 4).entries()) {
            const isTaken = (number + index) % 3 > 0;
            gateway.says = () =>
              Promise.resolve(
                isTaken
                  ? { kind: 'accepted', reference: id }
                  : { kind: 'refused', code: 'no', detail: 'No', retryable: false },
              );
            await smsDelivery.attempt(id);
          }
      };

      await pay(2_000);
      for (const one of steps) {
        await take(one);
        await look();
        await countAll();
        const { status, body } = await api.request('GET', '/v2/workspace/spend', { key: own.key });
        expect(status).toBe(200);
        expect({
          total: body.total,
          byCountry: named(body.byCountry, 'country'),
          byKey: named(body.byKey, 'keyId'),
          byClientTag: named(body.byClientTag, 'clientTag'),
        }).toEqual(spendOf(sent, (id) => !isFree(id)));
        const [charges, refunds] = [sumOf(charged), sumOf([...charged].filter(isFree))];
        expect([body.balance, body.ledger]).toEqual([
          { gbp: amount(left()) },
          {
            charges: { gbp: amount(-charges) },
            refunds: { gbp: amount(refunds) },
            credits: { gbp: amount(credits) },
            closed: { gbp: amount(0) },
            carried: { gbp: amount(0) },
            change: { gbp: amount(left()) },
          },
        ]);
      }
    }),
    { numRuns: 2, endOnFailure: true },
  );
});
