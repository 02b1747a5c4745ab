// @slow: it starts, stops and breaks processes of the platform.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import * as procfile from '../../scripts/setup/start/procfile.ts';
import { migrateUp } from '../../shared/db/client/migrate.ts';
import { query, transaction } from '../../shared/db/client.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { sendEmail } from '../../shared/jobs/send-email.ts';
import { queueOf } from '../../shared/queue/queue.ts';
import { clientOf } from '../support/api/api-client.ts';
import { startApi } from '../support/api/start-api.ts';
import { makeWebhook } from '../support/data/deliveries.ts';
import { workspace } from '../support/data/factory.ts';
import { newEmail, sendEmail as send } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { freePort } from '../support/processes/free-port.ts';
import { makeNewerVersion, newMigration, revertMigration } from '../support/processes/newer-version.ts';
import { type PlatformProcess, type Settings, startProcess } from '../support/processes/processes.ts';
import { startSmtpSink } from '../support/servers/smtp-sink.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { waitFor } from '../support/time/wait-for.ts';
import { sized } from './long-form.ts';

useDatabase();
afterAll(revertMigration);

const ownVersion = join(import.meta.dirname, '..', '..');
/** Emails in the table that the migration changes. */
const many = sized(1_000, 15_000);
/** The jobs that an email with a webhook needs. */
const jobs = ['send-email', 'relay-events', 'deliver-webhook', 'settle-webhook', 'sweep'];
// Six processes start and work side by side.
const patiently = { timeoutMs: 120_000 };
/**
 * The pause between two emails of a customer. While the test watches, the pause is short, so that a stop meets requests
 * in progress. While processes start, the pause is long, so that the load takes little of their CPU time.
 */
const pauseMs = { whileWatched: 150, whileOthersStart: 1_500 };

/** Starts the process of a line of that version's Procfile. */
function start(version: string, name: string, settings: Settings = {}): PlatformProcess {
  const line = procfile.read(join(version, 'Procfile')).find((each) => each.name === name)!;
  const { program, args } = procfile.partsOf(line);
  return startProcess(join(version, program), args, settings);
}

async function startWeb(version: string, settings: Settings = {}) {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const web = start(version, 'web', { ...settings, BIND_ADDRESS: '127.0.0.1', PORT: port });
  await waitFor(
    `a web process of ${version} is ready`,
    async () => (await fetch(`${url}/health/ready`)).ok,
    patiently,
  );
  return { ...web, url };
}

async function startWorkers(version: string, settings: Settings): Promise<PlatformProcess> {
  const workers = startProcess(join(version, 'workers/main.ts'), jobs, settings);
  await waitFor('the workers have started', () => workers.output().includes('workers started'), patiently);
  return workers;
}

async function release(version: string): Promise<{ code: number | null; said: string }> {
  const running = start(version, 'release', { LOG_LEVEL: 'silent' });
  const { code } = await running.exited;
  return { code, said: running.output().trim() };
}

/** Fills the table `emails` as on a busy platform. */
async function fillEmails(emailId: string): Promise<void> {
  const columns = (
    await query(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE()
       AND table_name = 'emails' AND column_name NOT IN ('id', 'workspace_id', 'status', 'due_at') ORDER BY ordinal_position`,
    )
  ).map(({ name }) => String(name));
  await query(
    `INSERT INTO emails (id, workspace_id, status, due_at, ${columns.join(', ')})
     SELECT UNHEX(LPAD(HEX(seq.n), 32, '0')), UNHEX(LPAD('1', 32, '0')), 'sent', NULL, ${columns.map((name) => `e.${name}`).join(', ')}
     FROM JSON_TABLE(?, '$[*]' COLUMNS (n FOR ORDINALITY)) AS seq JOIN emails e ON e.id = ?`,
    [JSON.stringify(Array.from({ length: many }, () => 0)), idToBytes(emailId)],
  );
}

// Shows F34
test('an old and a new version share the work over a migration, and the old one goes: nothing is lost or done twice', async () => {
  const newVersion = makeNewerVersion();
  const [own, sink, receiver] = await Promise.all([workspace(), startSmtpSink(), startWebhookReceiver()]);
  await makeWebhook(own, receiver.url, ['email.sent']);
  const api = await startApi();
  const { id: firstId } = await send(api, own, { subject: 'first' });
  await fillEmails(firstId);
  await api.close();
  const settings = { SMTP_URL: sink.url };
  // The new version does not start on the old schema, and says what is missing.
  const early = start(newVersion, 'web', { PORT: '0' });
  const [oldWeb, oldWorkers, refused] = await Promise.all([
    startWeb(ownVersion),
    startWorkers(ownVersion, settings),
    early.exited,
  ]);
  expect(refused.code).toBe(1);
  expect(early.output()).toContain(`Migrations are missing: ${newMigration}`);

  // The clients: each sends one email after the other, to the processes that are in the router's list.
  let routes = [oldWeb.url];
  let isOver = false;
  const answers: { status: number; id: string }[] = [];
  let sent = 0;
  let pace = pauseMs.whileOthersStart;
  const customers = Array.from({ length: 3 }, async () => {
    while (!isOver) {
      sent += 1;
      const body = newEmail(own, { subject: `email ${sent}` });
      const headers = { 'idempotency-key': `email-${sent}` };
      const to = clientOf(routes[sent % routes.length]!);
      const answer = await to.request('POST', '/v2/email', { key: own.key, headers, body });
      answers.push({ status: answer.status, id: answer.body.id });
      await sleep(pace);
    }
  });
  onTestFinished(async () => {
    isOver = true;
    await Promise.allSettled(customers);
  });
  const someMore = async (count = 8) => {
    pace = pauseMs.whileWatched;
    const enough = answers.length + count;
    await waitFor('more emails are accepted', () => answers.length >= enough, patiently);
    pace = pauseMs.whileOthersStart;
  };
  await someMore();

  // A long transaction uses the table. The migration waits for its end without blocking other statements, and is killed
  // meanwhile. Then two releases run at once, and the migration is done.
  await transaction(async () => {
    await query('SELECT id FROM emails LIMIT 1');
    const killed = start(newVersion, 'release');
    await waitFor('the migration waits', () => killed.output().includes('a migration waits for a table'));
    await someMore();
    await killed.kill();
    expect(await applied()).toBe(false);
  });
  const releases = await Promise.all([release(newVersion), release(newVersion)]);
  expect(releases.map(({ code }) => code)).toEqual([0, 0]);
  expect(releases.map(({ said }) => said).toSorted()).toEqual([`Applied: ${newMigration}`, 'Nothing to do']);
  await someMore();

  // Both versions run at once, and the old one also starts on the new schema, as after a rollback of a deploy.
  const [newWeb, newWorkers, oldWebAgain] = await Promise.all([
    startWeb(newVersion),
    startWorkers(newVersion, settings),
    startWeb(ownVersion),
  ]);
  // This process has the old version, whose release has nothing to do.
  expect(await migrateUp()).toEqual([]);
  routes = [oldWeb.url, newWeb.url, oldWebAgain.url];
  await someMore(15);
  // A job that neither version knows is not lost.
  const queue = queueOf(sendEmail.lanes.transactional);
  const stranger = await queue.add(
    'send-digest',
    { digestId: 'd' },
    { attempts: 100, backoff: { type: 'custom' } },
  );
  await waitFor(
    'somebody has looked at it',
    async () => ((await queue.getJob(stranger.id!))?.attemptsMade ?? 0) > 0,
  );

  // The router drops the old processes, which are then stopped amid requests, hand-overs and deliveries.
  pace = pauseMs.whileWatched;
  // The routes alternate, so one of two consecutive requests is at an old process.
  await waitFor('the old ones have requests in flight', () => sent >= answers.length + 2, {
    ...patiently,
    intervalMs: 1,
  });
  routes = [newWeb.url];
  const exits = await Promise.all([oldWeb.stop(), oldWebAgain.stop(), oldWorkers.stop()]);
  expect(exits.map(({ code }) => code)).toEqual([0, 0, 0]);
  await someMore();
  isOver = true;
  await Promise.all(customers);

  expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
  const wanted = ['first', ...answers.map((_, index) => `email ${index + 1}`)].toSorted();
  await waitFor('all emails have arrived', () => sink.messages.length >= wanted.length, patiently);
  await waitFor('all events have been delivered', () => receiver.requests.length >= wanted.length, patiently);
  expect((await newWorkers.stop()).code).toBe(0);
  const subjects = sink.messages.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw.toString())![1]!);
  expect(subjects.toSorted()).toEqual(wanted);
  const deliveries = receiver.requests.map(({ headers }) => headers['webhook-id']);
  expect([deliveries.length, new Set(deliveries).size]).toEqual([wanted.length, wanted.length]);
  expect(await queue.getJob(stranger.id!)).toBeTruthy();
  await stranger.remove();
}, 400_000);

async function applied(): Promise<boolean> {
  return (await query('SELECT 1 FROM knex_migrations WHERE name = ?', [newMigration])).length > 0;
}
