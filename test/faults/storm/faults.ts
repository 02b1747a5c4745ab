import { setTimeout as sleep } from 'node:timers/promises';
import type { CommitCut } from '../../support/database/commit-cut.ts';
import type { TcpProxy } from '../../support/servers/tcp-proxy.ts';
import { wrongClock } from './clock.ts';
import type { Slot } from './processes.ts';
import type { Planned } from './schedule.ts';
import type { Servers } from './servers.ts';
import type { InjectedFault } from './types.ts';

/** The targets of the faults. */
export type Stage = {
  slots: Slot[];
  servers: Servers;
  /** Proxies between the platform and each server. */
  lines: { mysql: TcpProxy; redis: TcpProxy; smtp: TcpProxy };
  /** Cuts connections at COMMIT, behind the proxy to MySQL. */
  commits: CommitCut;
};

export type Fault<On> = {
  /** Targets are a slot's name or one of the servers. */
  to: 'processes' | readonly string[];
  /** The duration in ms without the time to recover; `[0, 0]` for a fault that is over at once. */
  lasts: readonly [least: number, most: number];
  /** Begins the fault, and returns a function that ends it. The schedule draws `amount`, from 0 to below 1. */
  begin: (stage: On, target: string, amount: number) => Promise<() => unknown> | (() => unknown);
};
export type Faults<On> = Record<string, Fault<On>>;

type Slots = Pick<Stage, 'slots'>;

const slotOf = ({ slots }: Slots, target: string): Slot => {
  const slot = slots.find(({ name }) => name === target);
  if (!slot) throw new Error(`There is no process "${target}"`);
  return slot;
};
const lineOf = ({ lines }: Stage, target: string): TcpProxy => lines[target as keyof Stage['lines']];
const everyLine = ['mysql', 'redis', 'smtp'] as const;
const nothing = () => undefined;

/** Faults of any process of the platform. */
export const processFaults: Faults<Slots> = {
  'kill -9': {
    to: 'processes',
    lasts: [0, 0],
    async begin(stage, target) {
      const slot = slotOf(stage, target);
      await slot.kill();
      return () => slot.untilUp();
    },
  },
  SIGTERM: {
    to: 'processes',
    lasts: [0, 0],
    async begin(stage, target) {
      const slot = slotOf(stage, target);
      await slot.replace();
      return () => slot.untilUp();
    },
  },
  // At times longer than the lease: another worker takes the rows over, and the late process must not change them.
  SIGSTOP: {
    to: 'processes',
    lasts: [3_000, 14_000],
    begin(stage, target) {
      const slot = slotOf(stage, target);
      slot.freeze();
      return slot.thaw;
    },
  },
  // Only the wall clock of the process is wrong; the clock of MySQL decides what is due.
  'wrong clock': {
    to: 'processes',
    lasts: [4_000, 10_000],
    async begin(stage, target, amount) {
      const slot = slotOf(stage, target);
      const offsetsMs = [600_000, -600_000, 90_000];
      await slot.replace(wrongClock(slot.settings, offsetsMs[Math.floor(amount * offsetsMs.length)] ?? 0));
      return async () => {
        await slot.untilUp();
        await slot.replace(slot.settings);
        await slot.untilUp();
      };
    },
  },
};

export const faults: Faults<Stage> = {
  ...processFaults,
  cut: {
    to: everyLine,
    lasts: [0, 0],
    begin(stage, target) {
      lineOf(stage, target).cut();
      return nothing;
    },
  },
  freeze: {
    to: everyLine,
    lasts: [1_000, 10_000],
    begin(stage, target) {
      lineOf(stage, target).freeze();
      return () => lineOf(stage, target).pass();
    },
  },
  refuse: {
    to: everyLine,
    lasts: [1_000, 10_000],
    begin(stage, target) {
      lineOf(stage, target).refuse();
      return () => lineOf(stage, target).pass();
    },
  },
  slow: {
    to: everyLine,
    lasts: [3_000, 8_000],
    begin(stage, target, amount) {
      lineOf(stage, target).delay(300 + amount * 500);
      return () => lineOf(stage, target).pass();
    },
  },
  'kill -9 of the server': {
    to: ['mysql', 'redis'],
    lasts: [0, 4_000],
    async begin({ servers }, target) {
      const server = target === 'mysql' ? servers.mysql : servers.redis;
      await server.kill();
      return () => server.start();
    },
  },
  // Most cuts come after the COMMIT: the work is done, but its caller gets no answer.
  'lost at COMMIT': {
    to: ['mysql'],
    lasts: [500, 2_000],
    begin({ commits }, _, amount) {
      // Each cut meets the next commit, on another connection than the cut before.
      for (let cuts = 0; cuts < 1 + amount * 10; cuts += 1)
        void commits.cutNext(cuts % 3 === 2 ? 'before' : 'after');
      return () => commits.pass();
    },
  },
  FLUSHALL: {
    to: ['redis'],
    lasts: [0, 0],
    async begin({ servers }) {
      await servers.withRedis((redis) => redis.flushall());
      return nothing;
    },
  },
  'memory full': {
    to: ['redis'],
    lasts: [2_000, 8_000],
    async begin({ servers }) {
      const set = (bytes: number) => servers.withRedis((redis) => redis.config('SET', 'maxmemory', bytes));
      await set(1);
      return () => set(0);
    },
  },
  'read only': {
    to: ['mysql'],
    lasts: [1_000, 6_000],
    async begin({ servers }) {
      const set = (value: 0 | 1) =>
        servers.withMysql((connection) => connection.query(`SET GLOBAL read_only = ${value}`));
      await set(1);
      return () => set(0);
    },
  },
};

/** Begins the fault, waits for its duration, ends it, and waits until everything works again. */
export async function inject<On extends Slots>(
  stage: On,
  known: Faults<On>,
  { kind, target, lastMs, amount }: Planned,
): Promise<InjectedFault> {
  const fault = known[kind];
  if (!fault) throw new Error(`There is no fault "${kind}"`);
  const atMs = Date.now();
  const end = await fault.begin(stage, target, amount);
  await sleep(lastMs);
  await end();
  const slot = stage.slots.find(({ name }) => name === target);
  return { atMs, kind, target: slot?.kind ?? target, lastedMs: Date.now() - atMs };
}
