import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Reply } from './ask.ts';
import { followSink } from './copies.ts';
import { type Feed, followFeed } from './feed.ts';
import { countsOf, keepCopy, keepOdd, type Ledger, openLedger, type Request } from './ledger.ts';
import { makePlan } from './plan.ts';
import type { Planned } from './planned.ts';
import type { Load, LoadOptions, World } from './types.ts';
import { makeCustomers } from './workspaces.ts';

const tickMs = 25;
/** The most open requests: while the platform hangs, the load must not grow without end. */
const mostOpen = 96;
/** A stall is longer than the load's own work ever takes. */
const stallMs = 500;
const waits = { leastMs: 150, mostMs: 1_500 };

/** Starts customers who send, cancel, suppress, read and follow their feeds, and repeat requests until an answer. */
export async function startLoad(world: World, { perSecond, random, log }: LoadOptions): Promise<Load> {
  const customers = await makeCustomers(world.receivers);
  const feeds: Feed[] = customers.map(() => ({ events: [], oddities: [] }));
  const ledger = openLedger(customers, feeds);
  const since = new Date(ledger.startedMs - 60_000).toISOString();
  const sink = followSink(world.sink, (copy) => keepCopy(ledger, copy));
  const readers = customers.map((customer, index) => followFeed(world, customer, feeds[index]!, since));

  const open = new Set<Promise<void>>();
  const due: { atMs: number; planned: Planned }[] = [];
  const plan = makePlan(ledger, random, (atMs, planned) => due.push({ atMs, planned }));
  let [rate, owed, lastMs, skipped] = [perSecond, 0, Date.now(), 0];
  let giveUpAtMs = Number.POSITIVE_INFINITY;
  const isGivenUp = () => Date.now() > giveUpAtMs;

  function start(planned: Planned): void {
    const work = Promise.all(
      Array.from({ length: planned.twins }, () => perform(world, ledger, planned, isGivenUp)),
    ).then(([first]) => {
      const { reply, isRepeated } = first!;
      planned.settled?.(reply?.status ?? null, isRepeated);
      const isAgain = planned.replayAfterMs !== null && reply && reply.status < 300;
      if (isAgain)
        due.push({
          atMs: Date.now() + planned.replayAfterMs!,
          planned: { ...planned, twins: 1, replayAfterMs: null },
        });
    });
    const ended = work.then(() => void open.delete(ended));
    open.add(ended);
  }

  function tick(): void {
    const time = Date.now();
    owed = Math.min(owed + ((time - lastMs) * rate) / 1000, rate);
    lastMs = time;
    for (let index = due.length - 1; index >= 0; index -= 1)
      if (due[index]!.atMs <= time) start(due.splice(index, 1)[0]!.planned);
    for (; owed >= 1; owed -= 1) {
      // A skipped request is drawn too, so that the seed alone decides all later choices.
      const planned = plan.next();
      if (open.size < mostOpen) start(planned);
      else skipped += 1;
    }
  }
  const timer = setInterval(tick, tickMs);
  const stalls = watchStalls(ledger);

  return {
    ledger,
    setRate: (next) => {
      rate = next;
    },
    async stop({ graceMs = 60_000 } = {}) {
      clearInterval(timer);
      giveUpAtMs = Date.now() + graceMs;
      await Promise.all(open);
      const why = [...ledger.repeats].map(([text, times]) => `${text} (${times})`).join(', ');
      log(`The load has stopped: ${ledger.items.size} emails and texts accepted, ${skipped} left out`);
      if (ledger.stalls.length > 0) log(`The machine stalled ${ledger.stalls.length} times`);
      if (why) log(`Requests were repeated after ${why}`);
    },
    async close() {
      await Promise.all(readers.map((reader) => reader.close()));
      sink.close();
      stalls.close();
    },
  };
}

function watchStalls(ledger: Ledger) {
  let lastMs = Date.now();
  const timer = setInterval(() => {
    const atMs = lastMs;
    lastMs = Date.now();
    const lastedMs = lastMs - atMs;
    if (lastedMs > stallMs)
      ledger.stalls.push({ atMs, kind: 'the machine stalled', target: 'worker', lastedMs });
  }, tickMs);
  return { close: () => clearInterval(timer) };
}

/** Repeats a request until its answer is final; the reply is null if it was given up before. */
async function perform(
  world: World,
  ledger: Ledger,
  planned: Planned,
  isGivenUp: () => boolean,
): Promise<{ reply: Reply | null; isRepeated: boolean }> {
  const counts = countsOf(ledger, planned.operation);
  const startedMs = Date.now();
  const record = recordOf(ledger, planned, startedMs);
  let isRepeated = false;
  for (let wait = waits.leastMs; ; wait = Math.min(wait * 2, waits.mostMs)) {
    const askedMs = Date.now();
    const reply = await ask(world, planned);
    if (reply && isFinal(reply)) {
      settle(ledger, planned, record, reply, { startedMs, askedMs });
      return { reply, isRepeated };
    }
    if (isGivenUp()) {
      counts.unknown += 1;
      return { reply: null, isRepeated };
    }
    isRepeated = true;
    counts.repeated += 1;
    const why = `${planned.operation}: ${reply ? `${reply.status} ${codeOf(reply)}` : 'no answer'}`;
    ledger.repeats.set(why, (ledger.repeats.get(why) ?? 0) + 1);
    await sleep(wait);
  }
}

function recordOf(ledger: Ledger, { operation, customer, idempotencyKey }: Planned, startedMs: number) {
  if (!idempotencyKey || operation === 'reuse a key') return null;
  const known = ledger.requests.get(idempotencyKey);
  if (known) return known;
  const record: Request = {
    key: idempotencyKey,
    operation,
    customer,
    startedMs,
    answeredMs: null,
    status: null,
    code: null,
    hashes: [],
  };
  ledger.requests.set(idempotencyKey, record);
  return record;
}

const mustFail = new Set(['reuse a key', 'read another workspace']);

function settle(
  ledger: Ledger,
  planned: Planned,
  record: Request | null,
  reply: Reply,
  { startedMs, askedMs }: { startedMs: number; askedMs: number },
): void {
  const counts = countsOf(ledger, planned.operation);
  const answeredMs = Date.now();
  const isAccepted = reply.status < 300;
  const code = isAccepted ? null : codeOf(reply);
  const isAgain = record !== null && record.status !== null && record.status < 300;
  // Of two requests made at once, one may be refused before the other is accepted, so only later refusals are odd.
  const isTakenBack = isAgain && askedMs > record.answeredMs!;
  const isOdd = isAccepted
    ? mustFail.has(planned.operation)
    : isTakenBack || !planned.mayRefuse.includes(code!);
  if (isOdd)
    keepOdd(
      ledger,
      planned.operation,
      `${planned.method} ${planned.path} ${planned.idempotencyKey ?? ''}: ${reply.status} ${reply.text.slice(0, 400)}`,
    );
  if (!isAccepted) counts.refused += 1;
  else if (isAgain) counts.replayed += 1;
  else counts.accepted += 1;
  if (record) {
    record.answeredMs ??= answeredMs;
    if (!isAgain) [record.status, record.code] = [reply.status, code];
    const hash = hashOf(reply);
    if (isAccepted && !record.hashes.includes(hash)) record.hashes.push(hash);
  }
  if (isAccepted)
    planned.accepted?.(JSON.parse(reply.text), { startedMs: record?.startedMs ?? startedMs, answeredMs });
}

const codeOf = ({ text }: Reply): string => /\/problems\/(\w+)"/.exec(text)?.[1] ?? '';

const hashOf = ({ status, location, text }: Reply): string =>
  createHash('sha256').update(`${status} ${location} ${text}`).digest('base64').slice(0, 22);

/** Returns whether the answer is final: a 5xx, a rate limit and idempotency_in_progress are not. */
function isFinal(reply: Reply): boolean {
  if (reply.status >= 500) return false;
  if (reply.status === 429) return codeOf(reply) === 'limit_reached';
  return reply.status !== 409 || codeOf(reply) !== 'idempotency_in_progress';
}
