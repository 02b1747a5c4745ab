import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import type { Stage } from './faults.ts';
import type { Slot } from './processes.ts';

/** A measurement of the processes, Redis and the tables at one time. */
export type Sample = {
  atMs: number;
  processes: { name: string; kind: string; pid: number; rssBytes: number; handles: number | null }[];
  /** Null if Redis did not answer. */
  redis: { keys: number; bytes: number } | null;
  /** The server's estimates, by table; null if MySQL did not answer. */
  rows: Record<string, number> | null;
};

/** Counts the open files and connections of a process. Null on systems without /proc, where it would take seconds. */
function handlesOf(pid: number): number | null {
  try {
    return fs.readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return null;
  }
}

function rssOf(pid: number): number {
  try {
    const kib = /^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kib ?? 0) * 1024;
  } catch {
    if (process.platform === 'linux') return 0;
  }
  try {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
  } catch {
    return 0;
  }
}

function sampleProcess({
  name,
  kind,
  pid,
}: Pick<Slot, 'name' | 'kind' | 'pid'>): Sample['processes'][number] {
  return { name, kind, pid: pid(), rssBytes: rssOf(pid()), handles: handlesOf(pid()) };
}

async function takeSample({ slots, servers }: Stage): Promise<Sample> {
  const up = slots.filter((slot) => slot.isUp());
  const ours = { name: 'harness', kind: 'harness', pid: () => process.pid };
  const processes = [...up, ours].map(sampleProcess).filter(({ rssBytes }) => rssBytes > 0);
  const redis = servers.withRedis(async (client) => {
    const bytes = /used_memory:(\d+)/.exec(await client.info('memory'))?.[1];
    return { keys: await client.dbsize(), bytes: Number(bytes) };
  });
  const rows = servers.withMysql(async (connection) => {
    const database = new URL(servers.mysql.url).pathname.slice(1);
    const [found] = await connection.query(
      'SELECT table_name AS name, table_rows AS amount FROM information_schema.tables WHERE table_schema = ?',
      [database],
    );
    return Object.fromEntries(
      (found as { name: string; amount: number }[]).map(({ name, amount }) => [name, amount]),
    );
  });
  // Redis or MySQL may be away at this time.
  const answers = await Promise.all([redis.catch(() => null), rows.catch(() => null)]);
  return { atMs: Date.now(), processes, redis: answers[0], rows: answers[1] };
}

/** Counts the keys of Redis by their names without ids and numbers, to show which kind grows. */
export async function redisKinds({ servers }: Stage): Promise<Record<string, number>> {
  const counts = new Map<string, number>();
  await servers
    .withRedis(async (client) => {
      for await (const keys of client.scanStream({ count: 1_000 }))
        for (const key of keys as string[]) {
          const kind = key.replaceAll(/_[0-9a-hjkmnp-tv-z]{26}/g, '_…').replaceAll(/\d+/g, '0');
          counts.set(kind, (counts.get(kind) ?? 0) + 1);
        }
    })
    .catch(() => undefined);
  return Object.fromEntries([...counts].toSorted(([, one], [, other]) => other - one).slice(0, 30));
}

/** Takes a sample every `everyMs`, until it is stopped. */
export function keepSampling(stage: Stage, everyMs: number) {
  const samples: Sample[] = [];
  let isTaking = false;
  const timer = setInterval(() => {
    if (isTaking) return;
    isTaking = true;
    void takeSample(stage)
      .then((sample) => samples.push(sample))
      .finally(() => (isTaking = false));
  }, everyMs);
  return {
    samples,
    stop: () => clearInterval(timer),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Returns the samples of one quarter, 1 to 4, of the time that all samples cover. */
function quarterOf(samples: readonly Sample[], quarter: number): Sample[] {
  const [first, last] = [samples[0]?.atMs ?? 0, samples.at(-1)?.atMs ?? 0];
  const lengthMs = (last - first) / 4;
  const [from, to] = [first + (quarter - 1) * lengthMs, first + quarter * lengthMs];
  return samples.filter(({ atMs }) => atMs >= from && (atMs < to || quarter === 4));
}

export type Level = { first: number; second: number; last: number };

/** Returns the median of a measure in the first, the second and the last quarter. */
export function levelOf(samples: readonly Sample[], measure: (sample: Sample) => readonly number[]): Level {
  const of = (quarter: number) => median(quarterOf(samples, quarter).flatMap(measure));
  return { first: of(1), second: of(2), last: of(4) };
}

/** Returns the memory of each kind of process. */
export function memoryByKind(samples: readonly Sample[]): Record<string, Level> {
  const kinds = new Set(samples.flatMap(({ processes }) => processes.map(({ kind }) => kind)));
  return Object.fromEntries(
    [...kinds]
      .toSorted()
      .map((kind) => [
        kind,
        levelOf(samples, ({ processes }) =>
          processes.filter((one) => one.kind === kind).map(({ rssBytes }) => rssBytes),
        ),
      ]),
  );
}
