// @slow: it starts, stops and breaks processes of the platform.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { startApi } from '../../support/api/start-api.ts';
import { messagesTo, statusesOf } from '../../support/data/new-batch.ts';
import { textingWorkspace } from '../../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { type PlatformProcess, startWeb, startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startOwnMysql } from '../../support/servers/own-servers.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { sized } from '../long-form.ts';
import { randomOf } from '../storm/random.ts';

let mysql: Awaited<ReturnType<typeof startOwnMysql>>;
beforeAll(async () => {
  mysql = await startOwnMysql();
  changeSettings({ MYSQL_URL: mysql.url });
});
useDatabase();

const rows = sized(500, 50_000);
/** Each round does every harm once. */
const rounds = sized(1, 2);
/** SMS_BATCH_SEED repeats a run. */
const seed = Number(process.env['SMS_BATCH_SEED'] ?? Date.now() % 100_000);
/** The most tries for one harm: a process may finish its work just before it is killed. */
const mostTries = 10;

const kinds = {
  batches: ['expand-batch'],
  sms: ['send-sms', 'release-sms', 'simulator-answer'],
  events: ['relay-events', 'sweep', 'purge-expired', 'webhook-health', 'check-domains'],
};
type Kind = keyof typeof kinds;
/** Finds rows that only the process of that kind works on. A dead process does not release its rows. */
const inFlight: Record<Kind, string> = {
  batches: 'SELECT 1 FROM sms_batches WHERE lease_token IS NOT NULL AND due_at > ? LIMIT 1',
  sms: 'SELECT 1 FROM sms_messages WHERE lease_token IS NOT NULL AND due_at > ? LIMIT 1',
  events: 'SELECT 1 FROM events WHERE position IS NULL AND occurred_at < ? LIMIT 1',
};
const hasWork = async (kind: Kind) => (await query(inFlight[kind], [now()])).length > 0;

// Shows F42, F43
test(
  `every kind of process killed again and again, Redis emptied, MySQL restarted: each row is one message (seed ${seed})`,
  async () => {
    const random = randomOf(seed);
    const settings = { SIMULATOR_SECONDS: '0' };
    const own = await textingWorkspace();
    const running = new Map<Kind, PlatformProcess>();
    const start = async (kind: Kind) => running.set(kind, await startWorkerProcess(kinds[kind], settings));
    const names = Object.keys(kinds) as Kind[];
    const [first] = await Promise.all([startWeb(settings), ...names.map(start)]);
    let web: Pick<typeof first, 'url' | 'kill'> = first;
    // The successor of a process that is not killed again runs in this process, which costs less than to start one.
    changeSettings({ SIMULATOR_SECONDS: 0 });
    const isLast = (round: number) => round === rounds - 1;

    type Harm = { name: string; victim: Kind; harm: () => Promise<unknown>; isProcess: boolean };
    const harms: Harm[] = [
      ...names.map((kind) => ({
        name: kind,
        victim: kind,
        harm: () => running.get(kind)!.kill(),
        isProcess: true,
      })),
      // A server is harmed amid the work of `sms`, the kind that uses it most.
      { name: 'redis', victim: 'sms', harm: () => forgetRedis(), isProcess: false },
      { name: 'mysql', victim: 'sms', harm: () => mysql.kill(), isProcess: false },
    ];
    const perBatch = Math.min(10_000, Math.ceil(rows / (harms.length * rounds)));

    const batches: { id: string; first: number }[] = [];
    const total = () => batches.length * perBatch;
    const post = (first: number) =>
      clientOf(web.url).request('POST', '/v2/sms/batches', {
        key: own.key,
        headers: { 'idempotency-key': `batch-${first}` },
        body: { content: 'Dear {{ name }}', messages: messagesTo(perBatch, first) },
      });
    const postOne = async () => {
      const answer = await post(total());
      expect(answer.status).toBe(201);
      batches.push({ id: answer.body.id, first: total() });
    };
    // The web process is killed amid the request; a retry with the same Idempotency-Key gets the same, single batch.
    const postToDying = async (round: number) => {
      const cut = post(total()).catch(() => null);
      await sleep(random() * 200);
      await web.kill();
      await cut;
      web = isLast(round) ? { ...(await startApi()), kill: web.kill } : await startWeb(settings);
      await postOne();
    };
    const finals = async () => {
      const [found] = await query(
        "SELECT COUNT(*) AS messages FROM sms_messages WHERE status IN ('delivered', 'failed')",
      );
      return Number(found!['messages']);
    };

    const harmed: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const order = harms.toSorted(() => random() - 0.5);
      for (const [index, { name, victim, harm, isProcess }] of order.entries()) {
        // Each harm comes amid the work of a new batch: after the end of the work it would show nothing.
        await (index === 0 ? postToDying(round) : postOne());
        for (let isMet = false, tries = 1; !isMet; tries += 1) {
          expect(tries, `${name} has had no work when it was harmed`).toBeLessThanOrEqual(mostTries);
          if ((await finals()) >= total()) await postOne();
          // This kind may have finished its work before the first check, so it is over when all is done.
          let checks = 0;
          const seen = await waitFor(
            'it has work in progress',
            async () => {
              if (await hasWork(victim)) return 'work';
              checks += 1;
              return checks % 20 === 0 && (await finals()) >= total() && 'nothing';
            },
            { timeoutMs: 15_000, intervalMs: 1 },
          ).catch(() => 'nothing');
          if (seen === 'nothing') {
            await postOne();
            continue;
          }
          await sleep(random() * 20);
          isMet = isProcess || (await finals()) < total();
          await harm();
          if (isProcess) isMet = await hasWork(victim);
          if (name === 'mysql') await mysql.start();
          else if (isProcess) await (isMet && isLast(round) ? runWorkers(kinds[victim]) : start(victim));
          // The leases of the dead process end.
          await advanceClock(config.LEASE_SECONDS * 1000 + 3_000);
        }
        harmed.push(name);
      }
    }
    expect(new Set(harmed)).toEqual(new Set(harms.map(({ name }) => name)));

    await waitFor(
      'all have come to their end',
      async () => {
        await advanceClock(4_000);
        return (await finals()) >= total();
      },
      { timeoutMs: 120_000 + rows * 10, intervalMs: 500 },
    );
    const api = clientOf(web.url);
    const shown = async (id: string) =>
      (await api.request('GET', `/v2/sms/batches/${id}`, { key: own.key })).body;
    await waitFor(
      'the batches are completed',
      async () => {
        await advanceClock(61_000);
        const all = await Promise.all(batches.map(({ id }) => shown(id)));
        return all.every(({ status }) => status === 'completed');
      },
      { timeoutMs: 120_000, intervalMs: 500 },
    );
    for (const { id, first } of batches) {
      const { counts } = await shown(id);
      const { delivered = 0, failed = 0, ...others } = await statusesOf(id);
      const expected = messagesTo(perBatch, first);
      expect(others).toEqual({});
      expect(counts).toMatchObject({ total: expected.length, waiting: 0, delivered, failed });
      const made = await query('SELECT recipient FROM sms_messages WHERE batch_id = ?', [idToBytes(id)]);
      expect(made.map(({ recipient }) => String(recipient)).toSorted()).toEqual(
        expected.map(({ recipient }) => recipient).toSorted(),
      );
      const events = await query<{ type: string }[]>('SELECT type FROM events WHERE record_id = ?', [
        idToBytes(id),
      ]);
      expect(events.map(({ type }) => type)).toEqual(['batch.completed']);
      // A text whose answer was lost twice has failed, and no other.
      const [other] = await query(
        "SELECT COUNT(*) AS messages FROM sms_messages WHERE batch_id = ? AND status = 'failed' AND reason_code <> 'delivery_uncertain'",
        [idToBytes(id)],
      );
      expect(Number(other!['messages'])).toBe(0);
    }
    const twice = await query(
      'SELECT record_id, type FROM events GROUP BY record_id, type HAVING COUNT(*) > 1 LIMIT 5',
    );
    expect(twice).toEqual([]);
    const [queued] = await query("SELECT COUNT(*) AS events FROM events WHERE type = 'sms.queued'");
    expect(Number(queued!['events'])).toBe(total());
  },
  600_000 + rows * 20,
);
