import { drain } from '../backlog.ts';
import { atPace, castOf, numberOf, until } from '../cast.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run, side } from '../line.ts';
import type { TakenTexts, TimedTexts } from '../players/smsc.ts';

const warm = 600;
const texts = 6_000;
/** Texts of another customer for the carrier that does not answer: more than may be unanswered at this carrier. */
const stalled = 2_000;
const window = 50;
/**
 * The number of measured single texts; the slowest eight decide the p99. The first hundreds of texts do not count,
 * because they are slow until Node has compiled the code.
 */
const timed = 800;
const warmTimed = 300;
const betweenMs = 25;
/** The two carriers have different numbers, so a text for the stalled carrier cannot go to the other one. */
const [stalledPrefix, soundPrefix] = ['+447411', '+447400'];

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const { database } = world;
  const cast = castOf(bench, 'sms-gateway-stall');
  const [loader, other, smsc] = await Promise.all([
    cast.servant('loaders/platform'),
    cast.servant('loaders/platform'),
    cast.servant('players/smsc'),
  ] as const);
  await loader.ask('customer');
  await other.ask('customer');
  const port = await smsc.ask<number>('listen');
  const sizes = { warm: Math.round(warm * scale), count: Math.round(texts * scale) };
  const total = sizes.warm + sizes.count;
  const singles = {
    warm: Math.max(20, Math.round(warmTimed * scale)),
    count: Math.max(40, Math.round(timed * scale)),
  };
  const gateway = (name: string, changes: object) => ({
    name,
    type: 'smpp',
    url: `smpp://${name}:secret@127.0.0.1:${port}`,
    window,
    ...changes,
  });
  const startWorker = () =>
    cast.workers(['send-sms', 'sweep'], {
      SMS_GATEWAYS: JSON.stringify([
        gateway('stalled', { prefixes: [stalledPrefix] }),
        gateway('sound', { prefixes: [soundPrefix] }),
      ]),
    });
  const ask = (sql: string) => numberOf(database, sql);
  const ofStalled = `recipient LIKE '${stalledPrefix}%'`;

  async function begin(isStalled: boolean): Promise<void> {
    await world.clear();
    await smsc.ask('reset', ['stalled']);
    if (isStalled)
      await other.ask('acceptCarried', {
        first: 0,
        count: Math.round(stalled * scale),
        prefix: stalledPrefix,
      });
  }
  /** Waits until the stalled carrier has had texts and has answered none. */
  const meet = (isStalled: boolean) =>
    isStalled
      ? until('whether texts without an answer are known', 1, async () =>
          Number(
            (await ask(`SELECT COUNT(*) FROM sms_messages WHERE ${ofStalled} AND uncertain_count > 0`)) > 0,
          ),
        )
      : Promise.resolve();

  /** Single texts by the working carrier, at a steady pace. */
  async function latency(isStalled: boolean): Promise<TimedTexts> {
    await begin(isStalled);
    const worker = await startWorker();
    const result = async () => smsc.ask<TimedTexts>('timed');
    const pass = async (count: number) => {
      await atPace(count, betweenMs, (index) => loader.ask('acceptTimedText', String(index)));
      await until('single texts', count, async () => (await result()).count);
    };
    await pass(singles.warm);
    await meet(isStalled);
    await smsc.ask('reset', ['stalled']);
    await pass(singles.count);
    await worker.stop();
    return result();
  }

  async function run(isStalled: boolean): Promise<Run> {
    const { p50Ms, p99Ms } = await latency(isStalled);
    await begin(isStalled);
    const used = await drain(
      {
        start: async () => {
          const worker = await startWorker();
          await meet(isStalled);
          return worker;
        },
        hold: () => loader.ask('pause', 'send-sms-bulk'),
        load: (first, count) => loader.ask('acceptCarried', { first, count }),
        release: () => loader.ask('resume', 'send-sms-bulk'),
        finished: (count) =>
          until('texts with a receipt', count, () =>
            ask("SELECT COUNT(*) FROM sms_messages WHERE status = 'delivered'"),
          ),
      },
      { ...sizes, others: { smsc: smsc.pid, ...world.servers } },
    );
    const { texts: taken, repeated } = await smsc.ask<TakenTexts>('taken');
    checkEqual('texts at the sound carrier, and repeated ones', [taken, repeated], [total, 0]);
    checkEqual(
      'texts by the stalled carrier that have an end',
      await ask(`SELECT COUNT(*) FROM sms_messages WHERE ${ofStalled} AND status <> 'queued'`),
      0,
    );
    return { count: sizes.count, window: used, latency: { p50Ms, p99Ms }, content: `${total} texts` };
  }

  return {
    sides: [
      side(
        'platform',
        `${Math.round(stalled * scale)} texts of another customer by a carrier that does not answer`,
        () => run(true),
      ),
      side('idle', 'the carrier that answers alone', () => run(false)),
    ],
    close: cast.stopAll,
  };
}

export const smsGatewayStall: Line = {
  name: 'sms-gateway-stall',
  title: 'texts by one carrier while another has stopped answering, one worker',
  unit: 'texts',
  targets: { idle: 0.9 },
  p99AtMost: { idle: 2 },
  notes: [
    `The rate is of a backlog by the carrier that answers, to receipts on disk; p50 and p99 are of single texts, one each ${betweenMs} ms,`,
    'from the call that accepts one to its submit_sm.',
  ],
  open,
};
