import { setTimeout as delay } from 'node:timers/promises';
import { castOf, processTypes } from '../cast.ts';
import type { Bench, Line, Opened, Run } from '../line.ts';
import type { Program } from '../program.ts';
import { openWindow } from '../usage.ts';

const settleMs = 10_000;
const measureMs = 20_000;

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, 'at-rest');
  // Makes the tables.
  await (await cast.servant('loaders/platform')).ask('customer');

  async function run(): Promise<Run> {
    await world.clear();
    const running: Record<string, Program> = {};
    for (const [name, args] of Object.entries(processTypes))
      running[name] = await cast.platform(args, 'started', {
        PORT: '0',
        BIND_ADDRESS: '127.0.0.1',
        INBOUND_PORT: '0',
        INBOUND_BIND_ADDRESS: '127.0.0.1',
      });
    await delay(settleMs * scale);
    const commands = await world.redisCommands();
    const pids = Object.fromEntries(Object.entries(running).map(([name, { pid }]) => [name, pid]));
    const close = openWindow({ ...pids, ...world.servers });
    await delay(measureMs * scale);
    const window = close();
    const perSecond = ((await world.redisCommands()) - commands) / window.seconds;
    await Promise.all(Object.values(running).map((program) => program.stop()));
    const cpu = Object.entries(window.usages).map(([name, { cpuSeconds }]) => [
      `${name}, CPU %`,
      (100 * cpuSeconds) / window.seconds,
    ]);
    return {
      count: window.seconds,
      window,
      figures: {
        'Redis commands/s for each process': perSecond / Object.keys(processTypes).length,
        ...Object.fromEntries(cpu),
      },
      content: 'nothing',
    };
  }
  return {
    sides: [{ name: 'platform', title: 'one process of each line of the Procfile', run }],
    close: cast.stopAll,
  };
}

export const atRest: Line = {
  name: 'at-rest',
  title: 'what it costs to wait for work',
  unit: 'seconds',
  targets: {},
  atMost: {
    'Redis commands/s for each process': 50,
    ...Object.fromEntries(Object.keys(processTypes).map((name) => [`${name}, CPU %`, 1])),
  },
  comparedBy: 'cpu',
  notes: ['Commands inside of the scripts of BullMQ count too.'],
  open,
};
