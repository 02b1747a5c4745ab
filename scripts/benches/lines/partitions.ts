import path from 'node:path';
import { drain } from '../backlog.ts';
import { castOf, numberOf, until } from '../cast.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, type Side } from '../line.ts';
import { startRedisNodes } from '../redis-nodes.ts';

const warm = 600;
const texts = 6_000;
const queueName = 'send-sms-bulk';
const busiest = 'commands of the busiest node for each text';

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'partitions');
  const sizes = { warm: Math.round(warm * scale), count: Math.round(texts * scale) };
  const total = sizes.warm + sizes.count;
  const ask = (sql: string) => numberOf(database, sql);
  const opened: { stop: () => Promise<void> }[] = [];

  /** The keys of each partition are on a node of their own. */
  async function sideOf(name: string, count: number): Promise<Side> {
    const folder = path.join(world.folder, 'redis-nodes', String(count));
    const prefix = `{${name}}`;
    const prefixes = [prefix, ...Array.from({ length: count - 1 }, (_, index) => `{${name}-${index + 1}}`)];
    const nodes = await startRedisNodes(folder, prefixes);
    opened.push(nodes);
    const settings = { REDIS_URL: nodes.url, QUEUE_PREFIX: prefix, QUEUE_PARTITIONS: String(count) };
    const loader = await cast.servant('loaders/platform', settings);
    await loader.ask('customer');
    const { redis: _, ...others } = world.servers;
    const redis = Object.fromEntries(nodes.pids.map((pid, index) => [`redis ${index + 1}`, pid]));

    async function run(): Promise<Run> {
      await world.clear();
      await nodes.clear();
      const before = await nodes.commands();
      const window = await drain(
        {
          start: () => cast.workers(['send-sms'], settings),
          hold: () => loader.ask('pause', queueName),
          load: (first, count) => loader.ask('acceptTexts', { first, count }),
          release: () => loader.ask('resume', queueName),
          finished: () =>
            until('texts that wait', 0, () =>
              ask("SELECT COUNT(*) FROM sms_messages WHERE status = 'queued'"),
            ),
        },
        { ...sizes, others: { ...others, ...redis } },
      );
      const commands = (await nodes.commands()).map((after, index) => after - before[index]!);
      const sent = "SELECT COUNT(*) FROM sms_messages WHERE status = 'sent' AND claims = 1";
      checkEqual(
        'texts at the phones, and sent at once',
        [await ask('SELECT COUNT(*) FROM simulator_messages'), await ask(sent)],
        [total, total],
      );
      return {
        count: sizes.count,
        window,
        figures: { [busiest]: Math.max(...commands) / total },
        content: `${total} texts`,
      };
    }
    return {
      name,
      title:
        count === 1 ? 'one partition, one Redis' : `${count} partitions, a Redis Cluster of ${count} nodes`,
      run,
    };
  }

  return {
    sides: [await sideOf('platform', 4), await sideOf('two', 2), await sideOf('one', 1)],
    close: async () => {
      await cast.stopAll();
      await Promise.all(opened.map((nodes) => nodes.stop()));
    },
  };
}

export const partitions: Line = {
  name: 'partitions',
  title: 'due texts, by the number of partitions and nodes of Redis',
  unit: 'texts',
  targets: { one: 0.95 },
  notes: [
    'One worker, send-sms, as in sms-out. On a machine of few cores more nodes bring no speed: they are to cost none, and each',
    'has less to do. The commands are those of the whole run, with accepting and warming up.',
  ],
  open,
};
