import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnServer } from '../../support/servers/own-servers.ts';
import type { RedisGroup } from '../../support/servers/redis-groups.ts';
import { type Fault, type Faults, processFaults } from '../storm/faults.ts';
import type { Slot } from '../storm/processes.ts';
import type { Database, Member } from './databases.ts';
import type { Lines } from './lines.ts';

/** The targets of the faults. Only one node of each engine is harmed at a time, because three nodes survive no more. */
export type Stage = {
  slots: Slot[];
  database: Database;
  redis: RedisGroup;
  /** By the names of the processes that have lines of their own. */
  lines: Map<string, Lines>;
};

type Harm<Server> = (server: Server, stage: Stage) => Promise<() => unknown>;

const kill: Harm<OwnServer> = async (server) => {
  await server.kill();
  return () => server.start();
};
const freeze: Harm<OwnServer> = async (server) => {
  server.freeze();
  return () => server.thaw();
};
const cutOff: Harm<Member> = async (node, { database }) => database.cutOff!(node);
const restart: Harm<Member> = async (node, { database }) => {
  const takeBack = await database.switchFrom(node);
  await node.stop();
  return async () => {
    await node.start();
    await node.untilJoined();
    await takeBack();
  };
};

const toWriter =
  (harm: Harm<Member>) =>
  async (stage: Stage): Promise<() => unknown> => {
    const node = await stage.database.writer();
    const end = await harm(node, stage);
    return async () => {
      await end();
      await node.untilJoined();
    };
  };

const toReader = (harm: Harm<Member>) => async (stage: Stage, _: string, amount: number) => {
  const writer = await stage.database.writer();
  const readers = stage.database.nodes.filter((node) => node !== writer);
  const node = readers[Math.floor(amount * readers.length)]!;
  const end = await harm(node, stage);
  return async () => {
    await end();
    await node.untilJoined();
  };
};

const toPrimary = (harm: Harm<OwnServer>) => async (stage: Stage, _: string, amount: number) => {
  const { redis } = stage;
  const primaries = await redis.primaries();
  const end = await harm(primaries[Math.floor(amount * primaries.length)]!, stage);
  return async () => {
    await end();
    await redis.untilWhole();
  };
};

const { 'wrong clock': _, ...ofProcesses } = processFaults;

/** The longest time for which no request may be accepted, by the kind of fault. */
export const gapLimitsMs: Record<string, number> = {
  'kill -9 of the writer': 10_000,
  'planned switch of the writer': 3_000,
};

const common: Faults<Stage> = {
  ...ofProcesses,
  'kill -9 of the writer': { to: ['mysql'], lasts: [0, 4_000], begin: toWriter(kill) },
  // Longer than the group waits for its writer: another node is the writer when the frozen one goes on.
  'freeze of the writer': { to: ['mysql'], lasts: [8_000, 14_000], begin: toWriter(freeze) },
  'planned switch of the writer': { to: ['mysql'], lasts: [1_000, 4_000], begin: toWriter(restart) },
  'kill -9 of a reader': { to: ['mysql'], lasts: [0, 4_000], begin: toReader(kill) },
  'kill -9 of a primary': { to: ['redis'], lasts: [1_000, 8_000], begin: toPrimary(kill) },
  'freeze of a primary': { to: ['redis'], lasts: [5_000, 10_000], begin: toPrimary(freeze) },
  'planned switch of a primary': {
    to: ['redis'],
    lasts: [0, 0],
    begin: toPrimary(async (primary, { redis }) => {
      await redis.switchOver(primary);
      return () => sleep(1_000);
    }),
  },
};

const ofGroup: Faults<Stage> = {
  'writer cut off': { to: ['mysql'], lasts: [6_000, 12_000], begin: toWriter(cutOff) },
};

const ofProxies: Faults<Stage> = {
  'kill -9 of a proxy': {
    to: ['mysql-proxy'],
    lasts: [0, 2_000],
    async begin({ database: { proxies } }, _target, amount) {
      const proxy = proxies[Math.floor(amount * proxies.length)]!;
      await proxy.kill();
      return () => proxy.start();
    },
  },
};

/** One process is cut off from all servers of an engine: its packets are lost, and no other process is affected. */
const cutOffFrom = (engine: 'MySQL' | 'Redis', lines: Stage['lines']): Fault<Stage> => ({
  to: [...lines.keys()],
  // At times longer than the lease.
  lasts: [3_000, 14_000],
  begin(_stage, target) {
    const own = lines.get(target)![engine];
    if (!own.some((line) => line.passed() > 0))
      throw new Error(`${target} uses none of its lines to ${engine}`);
    for (const line of own) line.freeze();
    return () => Promise.all(own.map((line) => line.pass()));
  },
});

/** Returns the faults that this form of cluster can have. */
export const faultsOf = ({ database, lines }: Pick<Stage, 'database' | 'lines'>): Faults<Stage> => ({
  ...common,
  'cut off from MySQL': cutOffFrom('MySQL', lines),
  'cut off from Redis': cutOffFrom('Redis', lines),
  ...(database.cutOff && ofGroup),
  ...(database.proxies.length > 0 && ofProxies),
});
