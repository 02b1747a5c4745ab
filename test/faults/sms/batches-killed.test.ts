import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { messagesTo, statusesOf } from '../../support/data/new-batch.ts';
import { textingWorkspace } from '../../support/data/new-sms.ts';
import { forgetRedis, useDatabase } from '../../support/database/database.ts';
import { type PlatformProcess, startWeb, startWorkerProcess } from '../../support/processes/processes.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startOwnMysql } from '../../support/servers/own-servers.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { randomOf } from '../storm/random.ts';

let mysql: Awaited<ReturnType<typeof startOwnMysql>>;
beforeAll(async () => {
  mysql = await startOwnMysql();
  changeSettings({ MYSQL_URL: mysql.url });
});
useDatabase();

/** SMS_BATCH_ROWS=50000 is the long form; SMS_BATCH_SEED repeats a run. */
const rows = Number(process.env['SMS_BATCH_ROWS'] ?? 2_000);
const seed = Number(process.env['SMS_BATCH_SEED'] ?? Date.now() % 100_000);
const perBatch = 10_000;

const kinds: Record<string, string[]> = {
  batches: ['expand-batch'],
  sms: ['send-sms', 'release-sms', 'simulator-answer'],
  events: ['relay-events', 'sweep', 'purge-expired', 'webhook-health', 'check-domains'],
};

// Shows F42, F43
test(
  `every kind of process killed again and again, Redis emptied, MySQL restarted: each row is one message (seed ${seed})`,
  async () => {
    const random = randomOf(seed);
    const settings = { SIMULATOR_SECONDS: '0' };
    const own = await textingWorkspace();
    const running = new Map<string, PlatformProcess>();
    const start = async (kind: string) => running.set(kind, await startWorkerProcess(kinds[kind], settings));
    let web = await startWeb(settings);
    await Promise.all(Object.keys(kinds).map(start));

    // The process that was asked dies; who asks again with the same Idempotency-Key gets the one batch.
    const ids: string[] = [];
    for (let first = 0; first < rows; first += perBatch) {
      const post = () =>
        clientOf(web.url).request('POST', '/v2/sms/batches', {
          key: own.key,
          headers: { 'idempotency-key': `batch-${first}` },
          body: { content: 'Dear {{ name }}', messages: messagesTo(Math.min(perBatch, rows - first), first) },
        });
      const cut = post().catch(() => null);
      await sleep(random() * 200);
      await web.kill();
      await cut;
      web = await startWeb(settings);
      const answer = await post();
      expect(answer.status).toBe(201);
      ids.push(answer.body.id);
    }

    const madeSoFar = async () => {
      const [found] = await query('SELECT COUNT(*) AS messages FROM sms_messages');
      return Number(found!['messages']);
    };
    const finals = async () => {
      const [found] = await query(
        "SELECT COUNT(*) AS messages FROM sms_messages WHERE status IN ('delivered', 'failed')",
      );
      return Number(found!['messages']);
    };
    const progress = async () => (await madeSoFar()) + (await finals());
    const harms: [string, () => Promise<unknown>][] = [
      ...Object.keys(kinds).map((kind): [string, () => Promise<unknown>] => [
        kind,
        async () => {
          await running.get(kind)!.kill();
          await start(kind);
        },
      ]),
      ['redis', () => forgetRedis()],
      [
        'mysql',
        async () => {
          await mysql.kill();
          await mysql.start();
        },
      ],
    ];
    const order = harms.toSorted(() => random() - 0.5);
    const done: string[] = [];
    for (let round = 0; (await finals()) < rows && round < 2 * harms.length; round += 1) {
      const [name, harm] = order[round % order.length]!;
      // Amid the work: one that comes before anything is done again does the same as the one before it.
      const before = await progress();
      await waitFor('the work goes on', async () => (await progress()) > before, { timeoutMs: 120_000 });
      await sleep(random() * 200);
      await harm();
      done.push(`${name} at ${await madeSoFar()}`);
      // The work that the dead one had in hand is free again.
      await advanceClock(config.LEASE_SECONDS * 1000 + 3_000);
    }
    expect(done.length).toBeGreaterThan(3);

    await waitFor(
      'all have come to their end',
      async () => {
        await advanceClock(2_000);
        return (await finals()) >= rows;
      },
      { timeoutMs: 120_000 + rows * 10, intervalMs: 500 },
    );
    const api = clientOf(web.url);
    for (const [index, id] of ids.entries()) {
      const shown = async () => (await api.request('GET', `/v2/sms/batches/${id}`, { key: own.key })).body;
      await waitFor(
        'the batch is completed',
        async () => {
          await advanceClock(61_000);
          return (await shown()).status === 'completed';
        },
        { timeoutMs: 60_000, intervalMs: 500 },
      );
      const { counts } = await shown();
      const { delivered = 0, failed = 0, ...others } = await statusesOf(id);
      const expected = messagesTo(Math.min(perBatch, rows - index * perBatch), index * perBatch);
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
    expect(Number(queued!['events'])).toBe(rows);
  },
  600_000 + rows * 20,
);
