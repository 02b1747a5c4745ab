import { beforeAll, beforeEach, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import * as reports from '../../../shared/domain/reports/reports.ts';
import * as balance from '../../../shared/domain/sms/balance.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { apply } from '../../../shared/domain/sms/gateways/receipts.ts';
import * as prices from '../../../shared/domain/sms/prices.ts';
import * as suppressions from '../../../shared/domain/suppressions.ts';
import { gateways, type Submission } from '../../../shared/transports/sms.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { newBatch, statusesOf, workOff } from '../../support/data/new-batch.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { countAll } from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

const recipient = '+447407000000';
const hourMs = 3_600_000;
const ofThree = 'x'.repeat(400);
// In ten-thousandths of a pound.
const [credit, price] = [10_000, 3 * 400];

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
let gateway: ReturnType<typeof useTextGateway>;
beforeAll(async () => {
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0400,0.0460,2020-01-01\n');
});
beforeEach(async () => {
  gateway = useTextGateway();
  own = await textingWorkspace();
  await balance.add(own.workspaceId, credit, null);
});

/** The gateway took the first part and wants the others later: at once, unless a test changes `afterMs`. */
const firstTaken: Submission = {
  kind: 'later',
  detail: 'Throttled',
  afterMs: 0,
  parts: [{ part: 1, reference: 'p1' }],
};

async function attemptWith(id: string, submission: Submission): Promise<void> {
  gateway.says = () => Promise.resolve(submission);
  await attempt(id);
}

async function partlyTaken(): Promise<string> {
  const { id } = await sendSms(api, own, { recipient, content: ofThree });
  await attemptWith(id, firstTaken);
  expect((await smsOf(own, id)).status).toBe('queued');
  await advanceClock(1_000);
  return id;
}

/** Checks that balance, ledger and reports agree. */
async function expectPaid(): Promise<void> {
  await countAll();
  expect(await balance.find(own.workspaceId)).toBe(credit - price);
  const at = now().getTime();
  const range = { from: { date: at - 30 * 24 * hourMs }, to: { date: at + 24 * hourMs } };
  const { total, ledger } = await reports.spend(own, range);
  expect([total.cost.gbp, ledger.charges.gbp, ledger.refunds.gbp]).toEqual(['0.1200', '-0.1200', '0.0000']);
}

const refused = { kind: 'refused', code: 'no', detail: 'No', retryable: false } as const;
const ends: [string, string, (id: string) => Promise<unknown>][] = [
  [
    'whose recipient says STOP',
    'recipient_suppressed',
    async (id) => {
      await suppressions.add(own.workspaceId, { number: recipient, email: null }, 'stop', null);
      await attempt(id);
    },
  ],
  ['whose other parts are refused', 'no', (id) => attemptWith(id, refused)],
  [
    'whose other parts are not taken for two days',
    'gateway_unavailable',
    async (id) => {
      await advanceClock(49 * hourMs);
      await attemptWith(id, { kind: 'later', detail: 'Throttled' });
    },
  ],
];

test.each(ends)('a text %s stays charged: a part of it is with the carrier', async (_, code, end) => {
  const id = await partlyTaken();
  await end(id);
  expect(await smsOf(own, id)).toMatchObject({ status: 'failed', reason: { code } });
  await expectPaid();
});

test('a text that is refused while some of its parts are taken stays charged', async () => {
  const { id } = await sendSms(api, own, { recipient, content: ofThree });
  await attemptWith(id, { ...refused, parts: [{ part: 2, reference: 'p2' }] });
  expect((await smsOf(own, id)).status).toBe('failed');
  await expectPaid();
});

test('a text that another gateway takes as a whole ends by the receipts of that gateway alone', async () => {
  const id = await partlyTaken();
  // The operator has taken the first gateway out of the list since.
  const parts = [1, 2, 3].map((part) => ({ part, reference: `o${part}` }));
  gateways[config.SMS_GATEWAY] = {
    name: 'other',
    submit: async () => ({ kind: 'accepted', reference: 'o1', parts }),
  };
  await attempt(id);
  expect(await smsOf(own, id)).toMatchObject({ status: 'sent', gateway: 'other' });
  const expired = { category: 'expired', code: 'expired', description: null, retryable: true } as const;
  await apply({ gateway: 'network', reference: 'p1', reason: expired });
  expect((await smsOf(own, id)).status).toBe('sent');
  for (const { reference } of parts) await apply({ gateway: 'other', reference, reason: null });
  expect((await smsOf(own, id)).status).toBe('delivered');
});

test('a batch that is cancelled leaves a text whose first part is with the carrier, and pays for it', async () => {
  const recipients = [recipient, '+447407000001'];
  const batch = await newBatch(api, own, {
    messages: recipients.map((one) => ({ recipient: one })),
    content: ofThree,
  });
  await workOff(batch.id);
  const { body } = await api.request('GET', '/v2/sms?recipient=%2B447407000000', { key: own.key });
  const [{ id }] = body.data;
  await attemptWith(id, firstTaken);
  await advanceClock(1_000);
  expect((await api.request('DELETE', `/v2/sms/batches/${batch.id}`, { key: own.key })).status).toBe(200);
  await workOff(batch.id);
  expect(await statusesOf(batch.id)).toEqual({ queued: 1, cancelled: 1 });
  expect(await balance.find(own.workspaceId)).toBe(credit - price);
  await attemptWith(id, { kind: 'accepted', reference: 'p1' });
  expect(await statusesOf(batch.id)).toEqual({ sent: 1, cancelled: 1 });
});
