import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { localDir } from '../../../scripts/setup/environment.ts';
import * as session from '../../../scripts/setup/start/session.ts';
import { endAll } from '../../support/runner/at-end.ts';
import { type Options, optionsOf } from './options.ts';
import { prepareWorld } from './world.ts';

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
  // Both ways of waiting come about: in Redis, and in MySQL alone.
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

/** At full speed an answer takes its time, and that is not what a soak is to find. */
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
  // Whatever makes a temporary file makes it there, ourselves included.
  process.env['TMPDIR'] = folder;
  const { prepared, own } = await prepare(folder, chosen);
  // A frozen process cannot end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      for (const slot of prepared.stage.slots) slot.thaw();
    });
  // The load and the checks use the platform's own modules, which take their settings when they are first imported.
  for (const name of Object.keys(process.env))
    if (!['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE'].includes(name)) delete process.env[name];
  Object.assign(process.env, own, { LOG_LEVEL: 'silent' });
  const { runFaults, runSoak } = await import('./course.ts');
  const result = await (chosen.profile === 'faults' ? runFaults : runSoak)(prepared, {
    seed: chosen.seed,
    durationMs: chosen.minutes * 60_000,
    perSecond: chosen.perSecond,
    gapMs: chosen.size === 'small' ? [700, 2_000] : [2_000, 7_000],
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
    session.log(repetition(chosen));
  }
  return result.isSound ? 0 : 1;
}

function write(file: string, value: unknown): void {
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

const repetition = ({ profile, minutes, seed, perSecond, size }: Options): string =>
  `To repeat it: scripts/test ${profile} --minutes ${minutes} --seed ${seed} --per-second ${perSecond} --size ${size}`;

async function prepare(folder: string, { profile, size }: Options) {
  const { randomBytes } = await import('node:crypto');
  const whole = {
    ...settings,
    ...(profile === 'soak' && soakSettings),
    TMPDIR: folder,
    SECRET_KEY: `k1:${randomBytes(32).toString('hex')}`,
  };
  const prepared = await prepareWorld({
    folder,
    size,
    withLines: profile === 'faults',
    settings: whole,
    log,
  });
  return { prepared, own: prepared.direct };
}

if (import.meta.main) await session.run(main);
