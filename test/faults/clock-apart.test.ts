// @slow: it starts, stops and breaks processes of the platform.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { query } from '../../shared/db/client.ts';
import { sweep } from '../../shared/jobs/sweep.ts';
import { queueOf } from '../../shared/queue/queue.ts';
import { type Client, clientOf } from '../support/api/api-client.ts';
import { nowSeconds, signRequest } from '../support/api/sign-request.ts';
import { hmacKey } from '../support/api/signed-key.ts';
import { workspace } from '../support/data/factory.ts';
import { newEmail, sendEmail } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { type PlatformProcess, startWeb, startWorkerProcess } from '../support/processes/processes.ts';
import { type SmtpSink, startSmtpSink } from '../support/servers/smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import { advanceClockTo, clockToleranceMs } from '../support/time/advance-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

const minuteMs = 60_000;
const preload = path.join(import.meta.dirname, '../support/time/wrong-clock.mjs');
/** Returns settings for a machine whose clock is wrong by `offsetMs`; a jump makes it wrong by as much in reverse. */
const wrongBy = (offsetMs: number) => ({
  NODE_OPTIONS: `--import=${pathToFileURL(preload).href}`,
  CLOCK_OFFSET_MS: String(offsetMs),
  CLOCK_JUMP_MS: String(-2 * offsetMs),
});
const machines = [wrongBy(10 * minuteMs), wrongBy(-10 * minuteMs)];

/**
 * Less than the 20 minutes between the clocks of the machines: a worker that trusted its own clock would take the other
 * one's work. More than any one step of the tests' clock, because not all processes follow a step at the same moment.
 */
const leaseSeconds = '600';

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
let toSink: TcpProxy;
const webs: Awaited<ReturnType<typeof startWeb>>[] = [];
const workers: PlatformProcess[] = [];
let apis: Client[];
beforeAll(async () => {
  [own, sink] = await Promise.all([workspace(), startSmtpSink()]);
  toSink = await startTcpProxy(sink.url);
  // The processes start one after the other: on a busy machine, four at once may exceed the time limit of a start.
  for (const machine of machines) webs.push(await startWeb(machine));
  for (const machine of machines)
    workers.push(
      await startWorkerProcess(['send-email', 'sweep'], {
        ...machine,
        LEASE_SECONDS: leaseSeconds,
        SMTP_URL: toSink.url,
        // A third of them, which a workspace has before its first email has gone out, is enough for all emails of a test.
        SMTP_CONNECTIONS: '40',
      }),
    );
  apis = webs.map(({ url }) => clientOf(url));
});

const copiesTo = (recipient: string) =>
  sink.messages.filter(({ envelope }) => envelope.to.includes(recipient)).length;
const newRecipient = () => `${randomUUID()}@example.com`;

/** Sends one new email by way of each web process, and waits until the workers have sent them all. */
async function othersGoOut(): Promise<void> {
  const recipients = apis.map(newRecipient);
  await Promise.all(apis.map((api, index) => sendEmail(api, own, { recipient: recipients[index] })));
  await waitFor('the others go out', () => recipients.every((recipient) => copiesTo(recipient) === 1));
}

async function schedule(at: Date): Promise<string[]> {
  const recipients = apis.map(newRecipient);
  for (const [index, api] of apis.entries())
    await sendEmail(api, own, { recipient: recipients[index], scheduledAt: at.toISOString() });
  return recipients;
}

/** Runs one sweep, on either machine. */
async function sweepOnce(): Promise<void> {
  const { id } = await queueOf(sweep.lanes.default).add(sweep.name, {}, { removeOnComplete: true });
  await waitFor('the sweep has run', async () => !(await queueOf(sweep.lanes.default).getJob(id!)));
}

// After this time the sweep no longer trusts the job in Redis, which a wrong clock may hold back.
const latestMs = 63_000;

async function expectInTime(recipients: string[], at: Date): Promise<void> {
  await advanceClockTo(new Date(at.getTime() - 5_000));
  await othersGoOut();
  expect(recipients.map(copiesTo)).toEqual(recipients.map(() => 0));
  await advanceClockTo(new Date(at.getTime() + latestMs));
  await waitFor('they go out', () => recipients.every((recipient) => copiesTo(recipient) > 0));
  await othersGoOut();
  expect(recipients.map(copiesTo)).toEqual(recipients.map(() => 1));
}

// Shows F33
test('scheduled emails go out when MySQL says so, once, whichever machine takes or sends them', async () => {
  const at = new Date(now().getTime() + 6 * minuteMs);
  await expectInTime(await schedule(at), at);
});

// Shows F33
test('when the clocks of all machines jump while emails wait, none goes out early, late or twice', async () => {
  const at = new Date(now().getTime() + 6 * minuteMs);
  const before = await schedule(at);
  for (const { pid, output } of [...webs, ...workers]) {
    const jumps = () => output().split('the clock has jumped').length;
    const last = jumps();
    process.kill(pid, 'SIGWINCH');
    await waitFor('its clock has jumped', () => jumps() > last);
  }
  const after = await schedule(at);
  await expectInTime([...before, ...after], at);
});

test('what a machine says of times is MySQL’s time', async () => {
  for (const api of apis) {
    const from = now().getTime();
    const { createdAt } = await sendEmail(api, own);
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(from - clockToleranceMs);
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(now().getTime() + clockToleranceMs);
  }
});

// Shows F33
test('a machine whose clock is ahead does not take what another one has claimed', async () => {
  const recipients = Array.from({ length: 10 }, newRecipient);
  const liveClaims = async () => {
    const rows = await query(
      "SELECT claims FROM emails WHERE recipient IN (?) AND status = 'queued' AND handover_at IS NOT NULL",
      [recipients],
    );
    return rows.map((row) => row['claims']);
  };
  toSink.freeze();
  for (const [index, recipient] of recipients.entries())
    await sendEmail(apis[index % apis.length]!, own, { recipient });
  await waitFor('they are claimed', async () => (await liveClaims()).length === recipients.length);
  for (let run = 0; run < 6; run += 1) await sweepOnce();
  expect(await liveClaims()).toEqual(recipients.map(() => 1));
  await toSink.pass();
  await waitFor('all go out', () => recipients.every((recipient) => copiesTo(recipient) > 0));
  await othersGoOut();
  expect(recipients.map(copiesTo)).toEqual(recipients.map(() => 1));
});

// Shows F33
test('request signatures are judged by MySQL’s time, and refused with the reason', async () => {
  const { key, signer } = await hmacKey(own.workspaceId);
  const answerTo = (api: Client, ageSeconds: number) => {
    const body = JSON.stringify(newEmail(own));
    const outgoing = {
      method: 'POST',
      url: `${api.url}/v2/email`,
      headers: { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() },
      body,
    };
    const parameters = { created: nowSeconds() - ageSeconds };
    return api.request('POST', '/v2/email', { headers: signRequest(outgoing, signer, { parameters }), body });
  };
  for (const api of apis) {
    expect((await answerTo(api, 0)).status).toBe(201);
    expect((await answerTo(api, 240)).status).toBe(201);
    const [old, early] = [await answerTo(api, 600), await answerTo(api, -600)];
    expect([old.status, early.status]).toEqual([401, 401]);
    expect(old.body.detail).toContain('created is more than 300 seconds ago');
    expect(early.body.detail).toContain('created is more than 60 seconds ahead');
  }
});
