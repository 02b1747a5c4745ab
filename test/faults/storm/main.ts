import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { localDir } from '../../../scripts/setup/environment.ts';
import * as session from '../../../scripts/setup/start/session.ts';
import { endAll } from '../../support/runner/at-end.ts';
import type { Result } from './course.ts';
import { type Options, optionsOf } from './options.ts';
import type { Prepared, Options as RunOptions } from './run.ts';

/** Short times, so that a lease ends and a retry comes within the storm. */
const settings = {
  BIND_ADDRESS: '127.0.0.1',
  INBOUND_BIND_ADDRESS: '127.0.0.1',
  LOG_LEVEL: 'info',
  CLOCK_SHIFTABLE: 'true',
  RATE_LIMIT_PER_SECOND: '0',
  WORKSPACE_RATE_LIMIT_PER_SECOND: '0',
  AUTH_FAILURES_PER_MINUTE: '0',
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
  SWEEP_SECONDS: '1',
  // Short, so that scheduled messages wait in both ways: in MySQL alone, and then in Redis too.
  WAKE_AHEAD_SECONDS: '5',
  LEASE_SECONDS: '10',
  SMTP_TIMEOUT_SECONDS: '5',
  WEBHOOK_TIMEOUT_SECONDS: '5',
  SMS_TIMEOUT_SECONDS: '5',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '2,4,8,15,30,60',
  SHUTDOWN_SECONDS: '30',
  EMAIL_CONCURRENCY: '10',
  SMTP_CONNECTIONS: '10',
  EMAIL_DELIVERED_ON: 'accept',
  DNS_SERVERS: '127.0.0.1:1',
  SMTP_URL: 'smtp://127.0.0.1:1',
};

const startedAt = performance.now();
const log = (text: string) =>
  session.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)} s  ${text}`);

/** At full speed answers are slow, and a soak is not meant to find timeouts. */
const soakSettings = {
  LEASE_SECONDS: '30',
  SMTP_TIMEOUT_SECONDS: '15',
  WEBHOOK_TIMEOUT_SECONDS: '15',
  SMS_TIMEOUT_SECONDS: '15',
};

async function main(): Promise<number> {
  const chosen = optionsOf(process.argv.slice(2));
  const folder = await session.holdFree(path.join(os.tmpdir(), `storm-${os.userInfo().uid}`));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  for (const name of fs.readdirSync(folder)) {
    if (!['running.json', 'processes.json'].includes(name))
      fs.rmSync(path.join(folder, name), { recursive: true, force: true });
  }
  // All processes make their temporary files there, and so do we.
  process.env['TMPDIR'] = folder;
  const { prepared, go } = await prepare(folder, chosen);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => prepared.thaw());
  // The load and the checks use the platform's own modules, which take their settings when they are first imported.
  for (const name of Object.keys(process.env))
    if (!['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE'].includes(name)) delete process.env[name];
  Object.assign(process.env, prepared.direct, { LOG_LEVEL: 'silent' });
  const result = await go({
    seed: chosen.seed,
    durationMs: chosen.minutes * 60_000,
    perSecond: chosen.perSecond,
    gapMs: gapsMs[chosen.profile === 'cluster' ? 'cluster' : chosen.size],
    log,
  });
  await endAll();
  if (chosen.json) write(chosen.json, result.json);
  session.log(result.text);
  if (!result.isSound) {
    const kept = path.join(localDir, `${chosen.profile}-${chosen.seed}`);
    fs.rmSync(kept, { recursive: true, force: true });
    fs.cpSync(path.join(folder, 'logs'), kept, { recursive: true });
    write(path.join(kept, 'result.json'), result.json);
    session.log(`Logs and all that is known of it: ${kept}`);
  }
  if (!result.isSound || chosen.profile === 'cluster') session.log(repetition(chosen));
  return result.isSound ? 0 : 1;
}

function write(file: string, value: unknown): void {
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

const repetition = ({ profile, minutes, seed, perSecond, size, form }: Options): string =>
  `To repeat it: scripts/test ${profile} --minutes ${minutes} --seed ${seed} --per-second ${perSecond} --size ${size}${profile === 'cluster' ? ` --form ${form}` : ''}`;

/** Time from the begin of one fault to the begin of the next. */
const gapsMs = { whole: [2_000, 7_000], small: [700, 2_000], cluster: [4_000, 9_000] } as const;

type Course = { prepared: Prepared; go: (options: RunOptions) => Promise<Result> };

/** Loads the modules of the run late: they import the platform's modules, which need their settings first. */
async function prepare(folder: string, { profile, size, form }: Options): Promise<Course> {
  const { randomBytes } = await import('node:crypto');
  const whole = {
    ...settings,
    ...(profile === 'soak' && soakSettings),
    TMPDIR: folder,
    SECRET_KEY: `k1:${randomBytes(32).toString('hex')}`,
  };
  const world = { folder, size, settings: whole, log };
  if (profile === 'cluster') {
    const { prepareCluster } = await import('../cluster/world.ts');
    const prepared = await prepareCluster({ ...world, form });
    return {
      prepared,
      go: async (options) => (await import('../cluster/course.ts')).runCluster(prepared, options),
    };
  }
  const { prepareWorld } = await import('./world.ts');
  const prepared = await prepareWorld({ ...world, withLines: profile === 'faults' });
  return {
    prepared,
    async go(options) {
      const { runFaults, runSoak } = await import('./course.ts');
      return (profile === 'faults' ? runFaults : runSoak)(prepared, options);
    },
  };
}

if (import.meta.main) await session.run(main);
