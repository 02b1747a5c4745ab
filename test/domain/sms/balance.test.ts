import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { query } from '../../../shared/db/client.ts';
import * as balance from '../../../shared/domain/sms/balance.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as prices from '../../../shared/domain/sms/prices.ts';
import * as recovery from '../../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { postSms, sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { useTextGateway } from '../../support/servers/text-gateway.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 3600 });
  api = await startApi();
  await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-01\n');
});
beforeEach(async () => {
  own = await textingWorkspace();
});

const part = 300;
const credit = (amount: number) => balance.add(own.workspaceId, amount, null);
const left = () => balance.find(own.workspaceId);
const statusOf = async (id: string) => (await smsOf(own, id)).status;
const usedToday = async () => {
  const { body } = await api.request('GET', `/v2/api-keys/${own.keyId}`, { key: own.key });
  return body.limits.usedToday;
};
const cancel = (id: string) => api.request('DELETE', `/v2/sms/${id}`, { key: own.key });
const inHours = (hours: number) => new Date(now().getTime() + hours * 3_600_000).toISOString();
const twoParts = { content: 'x'.repeat(161) };

test('without a balance nothing is counted; the cost is known all the same', async () => {
  expect(await sendSms(api, own, twoParts)).toMatchObject({
    status: 'queued',
    cost: { gbp: '0.0600', eur: '0.0700' },
  });
  expect([await left(), await balance.listLedger(own.workspaceId, 10)]).toEqual([null, []]);
});

test('an accepted message takes its price off the balance; one that cannot be paid is held', async () => {
  await credit(part * 2);
  const first = await sendSms(api, own);
  expect([first.status, await left()]).toEqual(['queued', part]);
  const second = await sendSms(api, own, twoParts);
  expect(second.status).toBe('held');
  expect([await left(), await attempt(second.id)]).toEqual([part, 'dropped']);
  expect((await smsOf(own, second.id)).eventTypes).toEqual(['sms.queued', 'sms.held']);
  // The parts of the held text count as used today.
  expect(await usedToday()).toBe(3);
});

test('the feed tells that a text was accepted before it tells that it is held', async () => {
  await credit(part);
  await sendSms(api, own);
  const { id } = await sendSms(api, own);
  const { body } = await api.request('GET', `/v2/sms/${id}/events`, { key: own.key });
  expect(body.data.map(({ type, data }: any) => [type, data.status])).toEqual([
    ['sms.queued', 'queued'],
    ['sms.held', 'held'],
  ]);
});

test('a message held for 72 hours fails, and its parts are given back', async () => {
  await credit(1);
  const { id } = await sendSms(api, own, twoParts);
  const { id: later } = await sendSms(api, own, { scheduledAt: inHours(24) });
  await advanceClock(71 * 3_600_000);
  await recovery.sweep();
  expect(await statusOf(id)).toBe('held');
  await advanceClock(2 * 3_600_000);
  await recovery.sweep();
  expect(await smsOf(own, id)).toMatchObject({
    status: 'failed',
    reason: { category: 'expired', code: 'held_expired', retryable: true },
    eventTypes: ['sms.queued', 'sms.held', 'sms.failed'],
  });
  // The text was scheduled for a day later.
  expect(await statusOf(later)).toBe('held');
  expect(await left()).toBe(1);
});

test('a scheduled message is held for 72 hours from the time when it was to go out', async () => {
  await credit(1);
  const { id } = await sendSms(api, own, { scheduledAt: inHours(24) });
  await advanceClock((24 + 71) * 3_600_000);
  await recovery.sweep();
  expect(await statusOf(id)).toBe('held');
  await advanceClock(2 * 3_600_000);
  await recovery.sweep();
  expect(await smsOf(own, id)).toMatchObject({ status: 'failed', reason: { code: 'held_expired' } });
});

test.each([
  ['refused', 1644],
  ['locked', 1205],
])(
  'a held message that cannot be failed, because it is %s, holds up none behind it',
  async (_why, number) => {
    await credit(1);
    const [first, second] = [await sendSms(api, own), await sendSms(api, own)];
    await advanceClock(73 * 3_600_000);
    await query(`CREATE TRIGGER refuse_end BEFORE UPDATE ON sms_messages FOR EACH ROW
    IF NEW.id = X'${idToBytes(first.id).toString('hex')}' THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = ${number}; END IF`);
    await expect(recovery.sweep()).rejects.toThrow();
    await query('DROP TRIGGER refuse_end');
    expect(await Promise.all([first, second].map(({ id }) => statusOf(id)))).toEqual(['held', 'failed']);
  },
);

test('a message that is cancelled gives its price back once, a held one has none to give', async () => {
  await credit(part + 1);
  const { id } = await sendSms(api, own, { scheduledAt: inHours(2) });
  const { id: held } = await sendSms(api, own);
  expect(await left()).toBe(1);
  const answers = await Promise.all([cancel(id), cancel(id), cancel(held), cancel(held)]);
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
    200, 200, 409, 409,
  ]);
  expect([await left(), await usedToday()]).toEqual([part + 1, 0]);
  expect((await smsOf(own, held)).eventTypes).toEqual(['sms.queued', 'sms.held', 'sms.cancelled']);
  const kinds = (await balance.listLedger(own.workspaceId, 10)).map(({ kind, amount }) => [kind, amount]);
  expect(kinds).toEqual([
    ['refund', part],
    ['charge', -part],
    ['credit', part + 1],
  ]);
});

test('a message that no gateway takes gives its price back; one that was sent or may have been does not', async () => {
  const gateway = useTextGateway();
  onTestFinished(gateway.stop);
  const recipient = '+447407000001';
  await credit(10 * part);
  const send = async () => (await sendSms(api, own, { recipient })).id as string;
  const refused = await send();
  gateway.says = () =>
    Promise.resolve({ kind: 'refused', code: 'carrier_rejected', retryable: false, detail: 'no' });
  await attempt(refused);
  expect([await statusOf(refused), await left()]).toEqual(['failed', 10 * part]);

  const uncertain = await send();
  gateway.says = () => Promise.resolve({ kind: 'unavailable', detail: 'reset' });
  await attempt(uncertain);
  await advanceClock(120_000);
  await attempt(uncertain);
  expect([await statusOf(uncertain), await left()]).toEqual(['failed', 9 * part]);
});

test('where the balance is counted, a country without a price is refused, with the other faults', async () => {
  const { body: sender } = await api.request('GET', '/v2/senders', { key: own.key });
  expect(sender.data).toHaveLength(1);
  await prices.load('country,gbp,eur,validFrom\nGB,,,2020-01-02\n');
  onTestFinished(async () => {
    await prices.load('country,gbp,eur,validFrom\nGB,0.0300,0.0350,2020-01-02\n');
  });
  expect(await sendSms(api, own)).toMatchObject({ cost: { gbp: null, eur: null } });
  await credit(100 * part);
  const faultsOf = async (changes: Record<string, unknown>) => {
    const { status, body } = await postSms(api, own, changes);
    return [status, Object.keys(body.errors)];
  };
  expect(await faultsOf({})).toEqual([400, ['recipient']]);
  const tooLate = { scheduledAt: inHours(24 * 400) };
  expect(await faultsOf(tooLate)).toEqual([400, ['recipient', 'scheduledAt']]);
  // A field of the wrong shape does not hide the missing price either.
  expect(await faultsOf({ ...tooLate, clientTag: 7 })).toEqual([
    400,
    ['clientTag', 'recipient', 'scheduledAt'],
  ]);
});

test('50 at once against a balance for 20: exactly 20 are paid for, and nothing is left over', async () => {
  await credit(20 * part);
  const sent = await Promise.all(Array.from({ length: 50 }, () => sendSms(api, own)));
  const statuses = sent.map(({ status }) => status);
  expect(statuses.filter((status) => status === 'queued')).toHaveLength(20);
  expect(statuses.filter((status) => status === 'held')).toHaveLength(30);
  expect(await left()).toBe(0);
});

test('a debit below zero is refused; what becomes unlimited is closed, and refunds after that write nothing', async () => {
  await credit(2 * part);
  const { id } = await sendSms(api, own, { scheduledAt: inHours(2) });
  await expect(credit(-part - 1)).rejects.toThrow('cannot fall below zero');
  expect(await left()).toBe(part);
  await balance.makeUnlimited(own.workspaceId);
  await cancel(id);
  const entries = await balance.listLedger(own.workspaceId, 10);
  expect(entries.map(({ kind, amount }) => [kind, amount])).toEqual([
    ['closing', -part],
    ['charge', -part],
    ['credit', 2 * part],
  ]);
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(0);
});
