import { setTimeout as delay } from 'node:timers/promises';
import { castOf, numberOf, processTypes, until } from '../cast.ts';
import { plainEmail } from '../content.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Customer } from '../loaders/platform.ts';
import type { Answers, Load, Measured } from '../players/http-load.ts';
import { openWindow } from '../usage.ts';

const connections = 64;
const variants = 64;
const warmMs = 2_000;
const measureMs = 8_000;
const sampleMs = 100;
const oldest = 'oldest event that no report has yet ms';

// Events without a position lie in this index in the order of their ids.
const oldestUncounted = `SELECT TIMESTAMPDIFF(MICROSECOND, LEAST(
  COALESCE((SELECT occurred_at FROM events FORCE INDEX (events_position)
    WHERE position > (SELECT value FROM counters WHERE name = 'reports.position') ORDER BY position LIMIT 1),
    UTC_TIMESTAMP(3)),
  COALESCE((SELECT occurred_at FROM events FORCE INDEX (events_position) WHERE position IS NULL LIMIT 1),
    UTC_TIMESTAMP(3))), UTC_TIMESTAMP(3)) / 1000`;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'report-freshness');
  const loader = await cast.servant('loaders/platform');
  const load = await cast.servant('players/http-load');
  const { key } = await loader.ask<Customer>('customer');
  const bodies = Array.from({ length: variants }, (_, index) => JSON.stringify(plainEmail(index)));

  async function run(): Promise<Run> {
    await world.clear();
    const { web, port } = await cast.web({ EMAIL_JOBS_PER_WORKSPACE: '1000000' });
    const worker = await cast.platform(processTypes['worker_events']!, 'workers started');
    const headers = { Authorization: `Bearer ${key}` };
    const asked: Load = { ports: [port], path: '/v2/email', headers, bodies, connections };
    await load.ask('start', asked);
    await load.ask('measure', warmMs);
    const close = openWindow({ web: web.pid, worker: worker.pid, load: load.pid, ...world.servers });
    const loading = { isOver: false };
    const ages: number[] = [];
    const sample = async () => {
      while (!loading.isOver) {
        ages.push(await numberOf(database, oldestUncounted));
        await delay(sampleMs);
      }
    };
    const sampling = sample();
    const { count, ms } = await load.ask<Measured>('measure', Math.max(2_000, measureMs * scale));
    const window = close();
    loading.isOver = true;
    await sampling;
    const answers = await load.ask<Answers>('stop');
    const accepted = answers['201'] ?? 0;
    checkEqual('answers', answers, { '201': accepted });
    await until('emails in the reports', accepted, () =>
      numberOf(
        database,
        "SELECT COALESCE(SUM(accepted), 0) FROM report_counts WHERE dimension = 'all' AND span = 'hour'",
      ),
    );
    await Promise.all([web.stop(), worker.stop()]);
    window.seconds = ms / 1000;
    return { count, window, figures: { [oldest]: Math.max(...ages) }, content: '' };
  }

  return {
    sides: [{ name: 'platform', title: 'one web process and one worker_events', run }],
    close: cast.stopAll,
  };
}

export const reportFreshness: Line = {
  name: 'report-freshness',
  title: 'age of the oldest event that no report counts yet, while POST /v2/email is flooded',
  unit: 'emails',
  targets: {},
  atMost: { [oldest]: 10_000 },
  notes: [
    `${connections} kept connections. An event waits until it is numbered, and then for the next count of the reports.`,
  ],
  open,
};
