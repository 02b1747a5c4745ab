import { beforeAll, expect, test } from 'vitest';
import { query } from '../../shared/db/client.ts';
import { listMatchableReceipts } from '../../shared/db/sms/receipts.system.ts';
import { purge } from '../../shared/domain/operations/retention.ts';
import * as simulator from '../../shared/domain/simulator/simulator.ts';
import { jobsPerWorkspace, wake } from '../../shared/domain/simulator/wake.ts';
import { attempt } from '../../shared/domain/sms/delivery/delivery.ts';
import * as receipts from '../../shared/domain/sms/gateways/receipts.ts';
import * as recovery from '../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { simulatorAnswer } from '../../shared/jobs/simulator-answer.ts';
import { queueOf } from '../../shared/queue/queue.ts';
import { simulator as gateway } from '../../shared/transports/sms/simulator.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { advanceClock } from '../support/time/advance-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof textingWorkspace>>;
beforeAll(async () => {
  changeSettings({ SIMULATOR_SECONDS: 0 });
  api = await startApi();
  own = await textingWorkspace();
});

const referenceOf = (id: string) => idToBytes(id).toString('hex');
/** Sends a text to the phone that ends with these digits and lets the phone do what it does. */
async function textTo(digits: string, from = own) {
  const { id } = await sendSms(api, from, { recipient: `+447700900${digits}` });
  await attempt(id);
  await simulator.answer(referenceOf(id));
  return smsOf(from, id);
}
const inboundFrom = async (digits: string) => {
  const { body } = await api.request('GET', `/v2/sms?direction=inbound&sender=07700900${digits}`, {
    key: own.key,
  });
  return body.data;
};

const sent = ['sms.queued', 'sms.sent'];

test.each<[string, string, string, object | null]>([
  ['001', 'delivers', 'delivered', null],
  ['999', 'delivers', 'delivered', null],
  ['002', 'fails for good', 'failed', { category: 'undeliverable', retryable: false }],
  ['003', 'fails for now', 'failed', { category: 'undeliverable', retryable: true }],
  ['004', 'expires', 'failed', { category: 'expired', retryable: true }],
])('07700 900%s %s', async (digits, _what, status, reason) => {
  const message = await textTo(digits);
  expect(message.status).toBe(status);
  expect(message.eventTypes).toEqual([...sent, `sms.${status}`]);
  if (reason) expect(message.reason).toMatchObject(reason);
  else expect([message.reason, message.deliveredAt === null]).toEqual([null, false]);
});

test('07700 900005 never reports', async () => {
  const message = await textTo('005');
  expect([message.status, message.eventTypes]).toEqual(['sent', sent]);
});

test('07700 900007 answers YES, once, to who texted it', async () => {
  const message = await textTo('007');
  expect(message.status).toBe('delivered');
  await Promise.all([1, 2].map(() => simulator.answer(referenceOf(message.id))));
  expect(await inboundFrom('007')).toEqual([
    expect.objectContaining({
      direction: 'inbound',
      status: 'received',
      sender: '+447700900007',
      recipient: 'Acme',
      content: 'YES',
      inReplyTo: message.id,
      parts: 1,
    }),
  ]);
});

test('07700 900006 answers STOP, and its number is suppressed', async () => {
  const other = await textingWorkspace();
  await textTo('006', other);
  const { body } = await api.request('GET', '/v2/suppressions', { key: other.key });
  expect(body.data).toEqual([expect.objectContaining({ number: '+447700900006', source: 'stop' })]);
});

test('a receipt that comes before the gateway’s answer is written down is kept until then', async () => {
  const { id } = await sendSms(api, own, { recipient: '+447700900005' });
  const receipt = { gateway: 'simulator', reference: referenceOf(id), reason: null };
  await receipts.apply(receipt);
  expect((await smsOf(own, id)).status).toBe('queued');
  await attempt(id);
  expect(await smsOf(own, id)).toMatchObject({
    status: 'delivered',
    eventTypes: [...sent, 'sms.delivered'],
  });
  expect(await query('SELECT * FROM sms_receipts_unmatched')).toEqual([]);
});

test('a receipt that a process left behind is applied by the sweep', async () => {
  const { id } = await sendSms(api, own, { recipient: '+447700900005' });
  const reference = referenceOf(id);
  await attempt(id);
  await query(
    "INSERT INTO sms_receipts_unmatched (gateway, reference, received_at) VALUES ('simulator', ?, NOW(3))",
    [reference],
  );
  await recovery.sweep();
  expect((await smsOf(own, id)).status).toBe('delivered');
});

test('a receipt that cannot be applied holds up none behind it', async () => {
  const ids = [];
  for (const recipient of ['+447700900005', '+447700900005']) {
    const { id } = await sendSms(api, own, { recipient });
    ids.push(id);
    await attempt(id);
    await query(
      "INSERT INTO sms_receipts_unmatched (gateway, reference, received_at) VALUES ('simulator', ?, NOW(3))",
      [referenceOf(id)],
    );
  }
  const {
    matchable: [first],
  } = await listMatchableReceipts(null, 2);
  await query(`CREATE TRIGGER refuse_end BEFORE UPDATE ON sms_messages FOR EACH ROW
    IF NEW.id = X'${first!.reference}' THEN SIGNAL SQLSTATE '45000'; END IF`);
  await expect(recovery.sweep()).rejects.toThrow();
  await query('DROP TRIGGER refuse_end');
  for (const id of ids)
    expect((await smsOf(own, id)).status).toBe(referenceOf(id) === first!.reference ? 'sent' : 'delivered');
  await recovery.sweep();
});

test('the first receipt counts; repeated and contrary ones change nothing', async () => {
  const message = await textTo('001');
  const reason = { category: 'failed', code: 'late', description: null, retryable: false } as const;
  for (const late of [null, reason, null])
    await receipts.apply({ gateway: 'simulator', reference: referenceOf(message.id), reason: late });
  expect(await smsOf(own, message.id)).toEqual(expect.objectContaining({ ...message }));
});

test('receipts of nobody’s messages change nothing, and are forgotten', async () => {
  await receipts.apply({ gateway: 'simulator', reference: 'unknown', reason: null });
  await receipts.apply({ gateway: 'other', reference: 'unknown', reason: null });
  expect(await query('SELECT COUNT(*) AS n FROM sms_receipts_unmatched')).toEqual([{ n: 2 }]);
  await advanceClock(8 * 86_400_000);
  await purge();
  expect(await query('SELECT COUNT(*) AS n FROM sms_receipts_unmatched')).toEqual([{ n: 0 }]);
});

test('workers carry a text to the phone, report it and bring the answer, by themselves', async () => {
  const workers = await runWorkers(['send-sms', 'simulator-answer']);
  const fresh = await textingWorkspace();
  const { id } = await sendSms(api, fresh, { recipient: '+447700900007' });
  await waitFor('it is delivered', async () => (await smsOf(fresh, id)).status === 'delivered');
  const answer = await waitFor('the answer has come', async () => {
    const { body } = await api.request('GET', '/v2/sms?direction=inbound', { key: fresh.key });
    return body.data[0];
  });
  await workers.stop();
  expect(answer).toMatchObject({ content: 'YES', inReplyTo: id });
});

test('a phone whose job is lost reports all the same', async () => {
  const { id } = await sendSms(api, own, { recipient: '+447700900010' });
  await attempt(id);
  await query('UPDATE simulator_answers SET due_at = due_at - INTERVAL 1 HOUR');
  await recovery.sweep();
  const workers = await runWorkers(['simulator-answer']);
  await waitFor('it is delivered', async () => (await smsOf(own, id)).status === 'delivered');
  await workers.stop();
});

test('of 300 answers to one workspace Redis has a window, and an answer to another passes most of them', async () => {
  await forgetRedis();
  const [full, other] = [await textingWorkspace(), await textingWorkspace()];
  const text = async ({ workspaceId }: typeof own): Promise<string> => {
    const taken = await gateway.submit({
      id: 'none',
      workspaceId,
      sender: 'Acme',
      recipient: '+447700900123',
      content: 'Hello',
      parts: 1,
      wantsReceipt: true,
    });
    wake(workspaceId);
    return (taken as { reference: string }).reference;
  };
  const references = await Promise.all(Array.from({ length: 300 }, () => text(full)));
  const queue = queueOf(simulatorAnswer.lanes.default);
  const jobsOf = async ({ workspaceId }: typeof own) => {
    const jobs = await queue.getJobs(['waiting', 'prioritized', 'delayed', 'active']);
    return jobs.filter(({ data }) => data.workspaceId === workspaceId).length;
  };
  await waitFor('the window is full', async () => (await jobsOf(full)) === jobsPerWorkspace);
  const one = await text(other);
  await waitFor('the other has a job', async () => (await jobsOf(other)) === 1);
  await recovery.sweep();
  expect(await jobsOf(full)).toBe(jobsPerWorkspace);

  const workers = await runWorkers(['simulator-answer']);
  // No sweep runs here: answers that have ended bring on the next ones.
  await waitFor(
    'all phones have answered',
    async () =>
      (
        await query('SELECT 1 FROM simulator_answers WHERE workspace_id IN (?) LIMIT 1', [
          [full, other].map(({ workspaceId }) => idToBytes(workspaceId)),
        ])
      ).length === 0,
  );
  await workers.stop();
  // No text has these references, so their reports are kept, each with its time.
  const [row] = await query(
    `SELECT COUNT(*) AS n FROM sms_receipts_unmatched f JOIN sms_receipts_unmatched o ON o.reference = ?
     WHERE f.reference IN (?) AND f.received_at < o.received_at`,
    [one, references],
  );
  await query('DELETE FROM sms_receipts_unmatched WHERE reference IN (?)', [[one, ...references]]);
  expect(Number(row!['n'])).toBeLessThanOrEqual(jobsPerWorkspace);
});
