// @slow: it starts, stops and breaks processes of the platform.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query } from '../../../shared/db/client.ts';
import type { SmsRecord } from '../../../shared/db/sms/messages.ts';
import * as operator from '../../../shared/domain/sms/gateways/operator.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import type { SmsLane } from '../../../shared/schemas/lanes.ts';
import { returnStepMs } from '../../../shared/transports/sms/returns.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, storeTexts, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { type PlatformProcess, startWorkerProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

/** Texts that were put off while their carrier was away go soon after its return, and not at the times they were given. */

/** Each test has a carrier of its own, with its prefix, so that one worker serves the tests one after the other. */
const prefixes = { gone: '+447411', killed: '+447412', refusing: '+447413', paused: '+447414' };
const sound = '+447400';
type Carrier = keyof typeof prefixes;
const [ofBatch, singles] = [225, 75];
const patient = { timeoutMs: 120_000 };

let api: Client;
let other: Smsc;
let worker: PlatformProcess;
let startWorker: () => Promise<PlatformProcess>;
const carriers = {} as Record<Carrier, Smsc>;
beforeAll(async () => {
  api = await startApi();
  other = await startSmsc();
  for (const name of Object.keys(prefixes) as Carrier[]) carriers[name] = await startSmsc();
  const gateway = (name: string, at: number, prefix: string) => ({
    name,
    type: 'smpp',
    url: `smpp://acme:secret@127.0.0.1:${at}`,
    prefixes: [prefix],
    window: 50,
  });
  const ofTests = Object.entries(prefixes).map(([name, prefix]) =>
    gateway(name, carriers[name as Carrier].port, prefix),
  );
  const settings = { SMS_GATEWAYS: JSON.stringify([...ofTests, gateway('sound', other.port, sound)]) };
  changeSettings({ SMS_GATEWAYS: gatewayList.parse(settings.SMS_GATEWAYS) });
  await operator.pause('paused');
  startWorker = () => startWorkerProcess(['send-sms', 'sweep'], settings);
  worker = await startWorker();
});

let own: Awaited<ReturnType<typeof textingWorkspace>>;
let like: SmsRecord;
let away: string;

/** Ends a carrier's connections. The worker tries to open them again, less often with each failure. */
async function leaves(name: Carrier): Promise<void> {
  await waitFor('a worker is bound', () => carriers[name].binds.length > 0, patient);
  carriers[name].close();
  const isOfIt = (line: string) => line.includes(`"gateway":"${name}"`) && line.includes('is lost');
  await waitFor('the worker knows', () => worker.output().split('\n').some(isOfIt), patient);
}

/** Sends a first text to that carrier, for a workspace of its own. */
async function sendFirst(to: Carrier): Promise<void> {
  away = prefixes[to];
  own = await textingWorkspace();
  const first = await smsOf(own, (await sendTo(away)).id);
  // The worker may already have claimed the text, or have sent it.
  const asNew = { status: 'queued', dueAt: first.createdAt, sentAt: null } as const;
  like = { ...first, ...asNew, lineageId: null, parked: true };
}

let numbers = 0;
function numberWith(prefix: string): string {
  numbers += 1;
  return `${prefix}${String(numbers).padStart(6, '0')}`;
}
const sendTo = (prefix: string) => sendSms(api, own, { recipient: numberWith(prefix) });

/** Stores texts to the carrier that is away. */
const store = (lane: SmsLane, count: number) =>
  storeTexts(like, count, () => ({ lane, recipient: numberWith(away) }));

async function countWhere(sql: string): Promise<number> {
  const [row] = await query(
    `SELECT COUNT(*) AS texts FROM sms_messages WHERE workspace_id = ? AND recipient LIKE '${away}%' AND ${sql}`,
    [idToBytes(own.workspaceId)],
  );
  return Number(row!['texts']);
}

/**
 * Puts all texts off because of the carrier, and then further, as if there were many more. Returns their number.
 * `stored`: the texts that wait for the carrier already.
 */
async function putAllOff(stored = 1): Promise<number> {
  await store('bulk', ofBatch);
  await store('default', singles);
  const all = ofBatch + singles + stored;
  await waitFor('all are put off', async () => (await countWhere('retries > 0')) === all, patient);
  await query(
    `UPDATE sms_messages SET due_at = due_at + INTERVAL 1 HOUR
     WHERE status = 'queued' AND lease_token IS NULL AND due_at > NOW(3)`,
  );
  return all;
}

/** Starts the carrier again. As soon as it takes a text, it takes all of them. */
async function comesBack(name: Carrier): Promise<Smsc> {
  const smsc = await startSmsc({ port: carriers[name].port });
  await waitFor('a worker is bound again', () => smsc.binds.length > 0, patient);
  await sendTo(away);
  return smsc;
}

const recipientsOf = (smsc: Smsc) => smsc.taken.map(({ destination }) => destination.address);

test('texts that are due in an hour go when their carrier is back, and another carrier has its own meanwhile', async () => {
  await leaves('gone');
  await sendFirst('gone');
  const all = await putAllOff();
  const meanwhile = await sendTo(sound);
  await waitFor('the other carrier has its text', () => other.taken.length === 1);
  const ofOwn = [idToBytes(own.workspaceId)];
  const tries = async () => {
    const [row] = await query('SELECT SUM(claims) AS n FROM sms_messages WHERE workspace_id = ?', ofOwn);
    return Number(row!['n']);
  };
  const before = await tries();
  const smsc = await comesBack('gone');
  await waitFor('some have come', () => smsc.taken.length > 20, patient);
  const second = await sendTo(sound);
  await waitFor('all are sent', async () => (await countWhere("status = 'sent'")) === all + 1, patient);
  for (const { id } of [meanwhile, second]) expect((await smsOf(own, id)).status).toBe('sent');
  expect([smsc.taken.length, new Set(recipientsOf(smsc)).size]).toEqual([all + 1, all + 1]);
  // The worker does not bring texts that it could not hand over.
  expect((await tries()) - before).toBeLessThan(2 * all);
});

test('a worker is killed while it brings texts forward: the next one brings the others, and none is lost', async () => {
  await leaves('killed');
  await sendFirst('killed');
  const all = await putAllOff();
  const smsc = await comesBack('killed');
  await waitFor('some have come', () => smsc.taken.length > 50, { ...patient, intervalMs: 1 });
  await worker.kill();
  expect(await countWhere("status = 'queued' AND due_at > NOW() + INTERVAL 30 MINUTE")).toBeGreaterThan(0);
  // The leases of the killed worker end.
  await advanceClock(config.LEASE_SECONDS * 1000 + 3_000);
  worker = await startWorker();
  await sendTo(away);
  await waitFor('all are sent', async () => (await countWhere("status = 'sent'")) === all + 2, patient);
  expect(new Set(recipientsOf(smsc)).size).toBe(all + 2);
});

const isSent = (smsId: string) => async () => (await smsOf(own, smsId)).status === 'sent';

test('texts that were put off while a carrier refused all of them for their number go soon after it takes texts again', async () => {
  const smsc = carriers.refusing;
  await waitFor('a worker is bound', () => smsc.binds.length > 0, patient);
  await sendFirst('refusing');
  await waitFor('one is taken', () => smsc.taken.length > 0, patient);
  await waitFor('its outcome is written', async () => (await countWhere("status = 'sent'")) === 1, patient);
  // By then this worker has found that no text waits for the carrier.
  await sleep(4 * returnStepMs);
  smsc.submit = () => ({ status: 0x14 });
  await putAllOff(0);
  const refused = smsc.taken.length;
  // The first refusals may be about the number of texts. A refusal after the pause shows that it takes none.
  await waitFor(
    'it has refused another text after its pause',
    async () => {
      await sendTo(away);
      return smsc.taken.length > refused;
    },
    { ...patient, intervalMs: 1_000 },
  );
  smsc.submit = (_, count) => ({ id: `back-${count}` });
  const next = await sendTo(away);
  await waitFor('a text is taken', isSent(next.id), patient);
  await waitFor('all are sent', async () => (await countWhere("status <> 'sent'")) === 0, patient);
});

test('texts for a gateway that the operator has paused go soon after it is resumed', async () => {
  const smsc = carriers.paused;
  await sendFirst('paused');
  const all = await putAllOff();
  expect(smsc.taken).toEqual([]);
  await operator.resume('paused');
  // The worker reads the pauses again by the next text that comes two seconds later.
  await waitFor(
    'a text is taken',
    async () => {
      await sendTo(away);
      return smsc.taken.length > 0;
    },
    { ...patient, intervalMs: 1_000 },
  );
  await waitFor('all are sent', async () => (await countWhere("status <> 'sent'")) === 0, patient);
  expect(smsc.taken.length).toBeGreaterThan(all);
});
