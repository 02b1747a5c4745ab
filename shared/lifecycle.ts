import closeWithGrace from 'close-with-grace';
import { closeOpened } from './common/closing.ts';
import { logger } from './common/logger.ts';
import { readOwnGauges, takeCounts } from './common/metrics.ts';
import { watchProcess } from './common/process-gauges.ts';
import { config } from './config/config.ts';
import { refuseSettings } from './config/faults.ts';
import { placeOf } from './config/servers.ts';
import { closeBroadcast } from './coordination/broadcast.ts';
import { pendingMigrations } from './db/client/migrate.ts';
import { closeDatabase } from './db/client.ts';
import { sampleClock } from './db/server/clock.system.ts';
import { findServerSettings, requireDatabase, StartFault } from './db/server/server.system.ts';
import {
  addTotals,
  closeQueues,
  findRedisFault,
  findRedisSettings,
  thisProcess,
  writeGauges,
} from './queue/queue.ts';

const minPacketBytes = 16 * 1024 * 1024;
// Often where tests shift the clock, yet not so often that the samples of many idle processes keep a machine busy.
const sampleEveryMs = config.CLOCK_SHIFTABLE ? 300 : 5_000;
const countsEveryMs = 2_000;
/** Other processes take a gauge for that of a dead process after ten seconds, so one write of two may be lost. */
const gaugesEveryMs = 4_000;

let timers: NodeJS.Timeout[] = [];

/**
 * Runs `startUp` for a process of its own. If the process cannot start, logs the reason in one line and exits. `type`
 * is the name of the process in the metrics.
 */
export async function startUpOrExit(type: string): Promise<void> {
  // This is checked here, not with the other settings, because commands that encrypt nothing run without SECRET_KEY.
  if (!config.SECRET_KEY)
    refuseSettings([
      'SECRET_KEY must be set, to what this prints: echo k$(date +%s):$(openssl rand -hex 32)',
    ]);
  try {
    await startUp();
    watchProcess(type, thisProcess);
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    logger.fatal(error.message);
    process.exit(1);
  }
}

/**
 * Starts a process. The database must be reachable and migrated; if it is not durable, this is logged. From then on the
 * clock follows the database. If Redis is away, this is logged and the process goes on.
 */
export async function startUp(): Promise<void> {
  if (timers.length > 0) return;
  await requireDatabase();
  // The first sample includes the time to connect, so it is not exact.
  await sampleClock();
  await sampleClock();
  const pending = await pendingMigrations();
  if (pending.length > 0)
    throw new StartFault(`Migrations are missing: ${pending.join(', ')}. Run scripts/migrate up`);
  await checkServers();
  timers = [
    setInterval(followClock, sampleEveryMs),
    setInterval(() => addTotals(takeCounts()), countsEveryMs),
    setInterval(reportGauges, gaugesEveryMs),
  ];
  for (const timer of timers) timer.unref();
}

async function checkServers(): Promise<void> {
  const settings = await findServerSettings();
  if (settings.flushLogAtCommit !== 1)
    logger.warn(settings, 'innodb_flush_log_at_trx_commit is not 1: a power cut can lose what was accepted');
  if (settings.maxAllowedPacketBytes < minPacketBytes)
    throw new StartFault(
      `MYSQL_URL: max_allowed_packet of ${placeOf(config.MYSQL_URL)} is ${settings.maxAllowedPacketBytes}; it must be at least ${minPacketBytes}`,
    );
  const redis = await findRedisSettings();
  const redisFault = redis && (await findRedisFault());
  if (!redis)
    logger.warn(
      `REDIS_URL: the Redis at ${placeOf(config.REDIS_URL)} does not answer; work is accepted, and done once it is back`,
    );
  else if (redisFault)
    logger.error(
      { redisFault },
      'Redis takes no jobs; the platform accepts work, and does it when Redis takes jobs again',
    );
  else if (redis.maxmemoryPolicy !== 'noeviction')
    logger.warn(
      redis,
      'Redis maxmemory-policy is not noeviction: jobs may vanish until the sweep finds them',
    );
}

let isFollowing = false;

/** Takes one sample at a time: samples must not use up the connections of a slow database. */
function followClock(): void {
  if (isFollowing) return;
  isFollowing = true;
  sampleClock()
    .catch((error) => logger.debug({ err: error }, 'the clock could not be read'))
    .finally(() => {
      isFollowing = false;
    });
}

let hasShownGauges = false;

function reportGauges(): void {
  const gauges = readOwnGauges();
  const isWorthIt = gauges.some(([, value]) => value !== 0);
  // Written once more after the last value, so that the gauges go back to 0.
  if (isWorthIt || hasShownGauges) writeGauges(gauges);
  hasShownGauges = isWorthIt;
}

/**
 * From now on the process ends the work in progress by `finish` and closes everything at a signal, or after an error that
 * nobody has caught. The log line that it has started comes after this, because a reader of the line may stop it.
 */
export function stopWithGrace(work: string, finish: () => Promise<void>): void {
  closeWithGrace({ delay: config.SHUTDOWN_SECONDS * 1000 }, async ({ err, signal }) => {
    if (err) logger.fatal({ err }, 'stopping after an error');
    else logger.info({ signal }, `finishing the ${work} in progress`);
    await finish();
    await closeEverything();
  });
}

export async function closeEverything(): Promise<void> {
  for (const timer of timers) clearInterval(timer);
  timers = [];
  addTotals(takeCounts(), { isLast: true });
  reportGauges();
  closeBroadcast();
  await closeOpened();
  await closeQueues();
  await closeDatabase();
  // Transactions that committed meanwhile may have enqueued jobs, and so opened the queues again.
  await closeQueues();
}
