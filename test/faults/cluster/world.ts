import { type RedisGroup, startRedisCluster, startSentinels } from '../../support/servers/redis-groups.ts';
import { startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { inject } from '../storm/faults.ts';
import { migrate, preparePlatform, type Size } from '../storm/platform.ts';
import type { Settings } from '../storm/processes.ts';
import type { Planned } from '../storm/schedule.ts';
import { type Database, galeraBehindHaproxy, groupReplication } from './databases.ts';
import { faultsOf, type Stage } from './faults.ts';
import type { FormName } from './forms.ts';
import { startLines } from './lines.ts';

/** Long, as the nodes share one busy machine: the value in the guide for operators, or twice as much. */
const lostAfterMs = 2_000;
const partitions = 4;
const prefix = '{messaging}';

const sentinels = () => startSentinels({ sentinels: 3, downAfterMs: lostAfterMs });

type Form = {
  database: () => Promise<Database>;
  redis: () => Promise<RedisGroup>;
  partitions: number;
};

const engines: Record<FormName, Form> = {
  'galera-sentinel': { database: galeraBehindHaproxy, redis: sentinels, partitions: 1 },
  'galera-cluster': {
    database: galeraBehindHaproxy,
    redis: () => startRedisCluster(prefix, { replicas: 3, nodeTimeoutMs: lostAfterMs }),
    partitions,
  },
  'group-replication': { database: groupReplication, redis: sentinels, partitions: 1 },
};

type Options = {
  form: FormName;
  folder: string;
  size: Size;
  settings: Settings;
  log: (text: string) => void;
};

const machines = 2;
/** The processes that can be cut off from the servers. A line takes processor time, so most have none. */
const withLines: Record<Size, readonly string[]> = {
  whole: ['web-2', 'worker_email-2'],
  small: ['web-2', 'worker-2'],
};

/** Starts the engines and the outside servers, and prepares two processes of each kind of the platform. */
export async function prepareCluster({ form, folder, size, settings, log }: Options) {
  const chosen = engines[form];
  log(`${form}: starting the engines`);
  const [database, redis, sink] = await Promise.all([chosen.database(), chosen.redis(), startSmtpSink()]);
  const shared = {
    ...settings,
    REDIS_URL: redis.url,
    QUEUE_PREFIX: prefix,
    QUEUE_PARTITIONS: String(chosen.partitions),
    SMTP_URL: sink.url,
  };
  const direct = { ...shared, MYSQL_URL: database.direct };
  await migrate(direct);
  log(`${database.version}, ${redis.nodes.length} Redis and a mail server are there`);
  const ofRedis = [redis.url, ...redis.nodes.map(({ url }) => url)];
  const lines: Stage['lines'] = new Map();
  for (const name of withLines[size])
    lines.set(name, await startLines({ MySQL: [database.urlOf(machines)], Redis: ofRedis }));
  const platform = preparePlatform({
    folder,
    size,
    countOf: () => machines,
    settingsOf: (machine, name) => ({
      ...shared,
      MYSQL_URL: database.urlOf(machine),
      ...lines.get(name)?.settings,
    }),
  });
  const stage: Stage = { slots: platform.slots, database, redis, lines };
  const faults = faultsOf(stage);
  return {
    ...platform,
    sink,
    direct,
    faults,
    thaw() {
      for (const each of [...platform.slots, ...database.nodes, ...redis.nodes]) each.thaw();
    },
    inject: (planned: Planned) => inject(stage, faults, planned),
  };
}

export type PreparedCluster = Awaited<ReturnType<typeof prepareCluster>>;
