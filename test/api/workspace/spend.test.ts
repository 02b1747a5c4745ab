import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import * as balance from '../../../shared/domain/sms/balance.ts';
import * as prices from '../../../shared/domain/sms/prices.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { countAll } from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { admin } from '../../support/processes/admin.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
});
beforeEach(async () => {
  own = await textingWorkspace();
});

const ask = (query = '') => api.request('GET', `/v2/workspace/spend?${query}`, { key: own.key });
const month = () => now().toISOString().slice(0, 7);

test('what is spent is told by country, key and tag, beside what changed the balance', async () => {
  await balance.add(own.workspaceId, 10_000, 'paid');
  await sendSms(api, own, { clientTag: 'Offer' });
  const two = await sendSms(api, own, { content: 'x'.repeat(161) });
  const scheduledAt = new Date(now().getTime() + 3_600_000).toISOString();
  const gone = await sendSms(api, own, { clientTag: 'Offer', scheduledAt });
  await api.request('DELETE', `/v2/sms/${gone.id}`, { key: own.key });
  await countAll();
  const { status, body } = await ask();
  const one = { messages: 1, parts: 1, cost: { gbp: '0.0300', eur: '0.0350' } };
  const both = { messages: 2, parts: 3, cost: { gbp: '0.0900', eur: '0.1050' } };
  expect([status, body]).toEqual([
    200,
    {
      from: `${month()}-01T00:00:00.000Z`,
      to: expect.stringMatching(/-01T00:00:00.000Z$/),
      total: both,
      byCountry: [{ country: 'GB', ...both }],
      byKey: [{ keyId: own.keyId, ...both }],
      byClientTag: [
        { clientTag: null, messages: 1, parts: two.parts, cost: two.cost },
        { clientTag: 'offer', ...one },
      ],
      balance: { gbp: '0.9100' },
      credits: { gbp: '1.0000' },
      ledger: {
        charges: { gbp: '-0.1200' },
        refunds: { gbp: '0.0300' },
        credits: { gbp: '1.0000' },
        closed: { gbp: '0.0000' },
        carried: { gbp: '0.0000' },
        change: { gbp: '0.9100' },
      },
    },
  ]);
  const { printed } = await admin('workspace', 'show', own.workspaceId);
  expect(printed).toMatchObject({
    balanceGbp: '0.9100',
    textsThisMonth: 2,
    partsThisMonth: 3,
    spentGbpThisMonth: '0.0900',
    balanceChangeGbpThisMonth: '0.9100',
  });
  // The name of the month and its two bounds give the same answer.
  expect((await ask(`month=${month()}`)).body).toEqual(body);
  expect((await ask(`from=${body.from}&to=${body.to}`)).body).toEqual(body);
});

test('a month in which nothing happened is zeros, and without a balance there is none', async () => {
  const { body } = await ask('month=2020-02');
  expect(body).toMatchObject({
    from: '2020-02-01T00:00:00.000Z',
    to: '2020-03-01T00:00:00.000Z',
    total: { messages: 0, parts: 0, cost: { gbp: '0.0000', eur: '0.0000' } },
    byCountry: [],
    byKey: [],
    byClientTag: [],
    balance: null,
    ledger: { change: { gbp: '0.0000' } },
  });
});

test("another workspace's spend is not in it", async () => {
  const other = await textingWorkspace();
  await balance.add(other.workspaceId, 10_000, null);
  await sendSms(api, other);
  await countAll();
  expect((await ask()).body).toMatchObject({ total: { messages: 0 }, credits: { gbp: '0.0000' } });
});

test('when the balance becomes unlimited, what was left is closed', async () => {
  await balance.add(own.workspaceId, 10_000, null);
  await sendSms(api, own);
  await balance.makeUnlimited(own.workspaceId);
  expect((await ask()).body).toMatchObject({
    balance: null,
    ledger: { charges: { gbp: '-0.0300' }, closed: { gbp: '-0.9700' }, change: { gbp: '0.0000' } },
  });
});

test.each([
  ['month=2026-13', 'month'],
  ['month=november', 'month'],
  // The end of this month would have a year of five digits.
  ['month=9999-12', 'month'],
  ['month=2026-11&from=2026-11-01', 'month'],
  ['month=2026-11&to=2026-11-01', 'month'],
  ['from=2026-07-02&to=2026-07-01', 'from'],
  ['from=2025-01-01&to=2026-07-01', 'from'],
  ['from=2026-02-30', 'from'],
  ['to=yesterday', 'to'],
])('%s is refused by its name', async (query, field) => {
  const { status, body } = await ask(query);
  expect([status, Object.keys(body.errors)]).toEqual([400, [field]]);
});
