import {
  isAlone,
  isStuck,
  newLine,
  newOrigin,
  type OpenRequest,
  type Origin,
  paceAfter,
  partOf,
  slotsOf,
  type Waiter,
  type WebhookQueue,
} from './lines.ts';

/**
 * How many attempts at one webhook are under way in this process, and at all webhooks of one origin. A request that
 * must wait waits here and not in Redis, as fast endpoints are done in a moment; who would wait for long, and so keep a
 * place that others' deliveries need, is sent away. A slot is held while the request is out; places are given a little
 * ahead, for the claims.
 */

/** A place in a webhook's line. */
export type Permit = {
  /** Does the work when there is a slot; null, and no work, when there was none in time. */
  post: <T extends object>(work: () => Promise<T>) => Promise<T | null>;
  /** Gives up a place that was not used; harmless after `post`. */
  leave: () => void;
};

/** For those who need not wait. */
export const open: Permit = { post: (work) => work(), leave: () => undefined };

export type ConcurrencyLimiter = {
  /**
   * Null for who is sent away. `share`: how much of a job that this process has taken is held up while it waits.
   * `origin`: names what it shares its slots with; left out, nothing.
   */
  enter: (webhookId: string, share?: number, origin?: string) => Promise<Permit | null>;
  /** Requests that are out, and deliveries that wait. */
  counts: () => { inFlight: number; waiting: number };
};

export type ConcurrencyLimits = {
  /** Requests that are out to one webhook, and to one origin. */
  perWebhook: number;
  /** Towards this many requests that are out to all webhooks, each gets fewer and fewer slots. */
  inFlight: number;
  /**
   * So many have a place without a slot, whichever webhooks they are of; beyond, places are given for free slots only.
   */
  ahead: number;
  /**
   * So many jobs may wait for slow webhooks; those of one origin may take half of that, two a third each, and so on.
   */
  waiting: number;
  longestWaitMs: number;
  /** Nobody waits for a webhook that has answered nothing for so long. */
  patienceMs: number;
  /**
   * This process itself is what all wait for: its webhooks seem slow, and nobody would be served sooner in the place of
   * those who are sent away.
   */
  isSaturated: boolean;
};

/** Never fewer than this, however many webhooks there are. */
const fewestSlots = 2;
/** A webhook gets at most this part of the slots that are free. */
const partOfFree = 8;
/** Places are given for requests that can begin within this time. */
const aheadMs = 500;
const mostAhead = 200;
/** Where the wait is no longer than this, the line may be as long as it likes; others share the places to wait. */
const shortWaitMs = 1_000;

export function createConcurrencyLimiter(limits: () => ConcurrencyLimits): ConcurrencyLimiter {
  const origins = new Map<string, Origin>();
  const lines = new Map<string, WebhookQueue>();
  let inFlight = 0;
  let waiting = 0;
  /** The same in jobs. */
  let jobsWaiting = 0;
  let placed = 0;

  /** The slots of an origin. */
  function slots(): number {
    const free = Math.floor((limits().inFlight - inFlight) / partOfFree);
    return Math.min(limits().perWebhook, Math.max(fewestSlots, free));
  }

  /** The time of a request: as long as those before, and no less than the one that is out for longest. */
  function paceMs(line: WebhookQueue): number {
    const [oldest] = line.out;
    return Math.max(line.paceMs ?? 0, oldest ? performance.now() - oldest.at : 0);
  }

  function places(line: WebhookQueue): { free: number; ahead: number } {
    const pace = paceMs(line);
    const all = slots();
    const own = slotsOf(line, all);
    const inTime = pace === 0 ? own : Math.min(mostAhead, Math.floor((own * aheadMs) / pace));
    const ahead = line.isStuck ? 0 : Math.max(0, Math.min(inTime, limits().ahead - placed));
    const { origin } = line;
    const taken = line.out.size + line.placed;
    const free = Math.min(own - taken, all - origin.out - origin.placed) + ahead;
    // Without a place it could not wait for the slots that are its own.
    return { free: Math.max(free, partOf(line, all) - taken), ahead };
  }

  function mayWait(line: WebhookQueue): boolean {
    const { waiting: mostJobs, isSaturated, patienceMs } = limits();
    const { origin } = line;
    if (line.isStuck || (line.out.size === 0 && isStuck(line, performance.now(), patienceMs))) return false;
    const pace = line.paceMs ?? origin.paceMs;
    // Nothing is known of it yet, and soon something will be.
    if (pace === null) return true;
    if ((origin.waiting * pace) / slots() <= shortWaitMs || isSaturated) return true;
    return origin.jobsWaiting < mostJobs - jobsWaiting;
  }

  /** Resolves with what `start` returns, which runs at the moment of the turn; null when that does not come in time. */
  function turn<T>(line: WebhookQueue, queue: Set<Waiter>, share: number, start: () => T): Promise<T | null> {
    const { origin } = line;
    const counted = queue === line.forPlace ? 1 : 0;
    const count = (sign: 1 | -1) => {
      waiting += sign;
      origin.waiting += sign * counted;
      // Not the sum of parts that were never quite a whole.
      jobsWaiting = waiting === 0 ? 0 : jobsWaiting + sign * share;
      origin.jobsWaiting = origin.waiting === 0 ? 0 : origin.jobsWaiting + sign * share * counted;
    };
    count(1);
    watch(line);
    return new Promise((resolve) => {
      const end = (result: T | null) => {
        queue.delete(waiter);
        count(-1);
        resolve(result);
      };
      const waiter: Waiter = {
        since: performance.now(),
        share,
        go: () => end(start()),
        giveUp: () => end(null),
      };
      queue.add(waiter);
    });
  }

  function watch(line: WebhookQueue): void {
    // A turn of the event loop late: when this process itself stood still, what has arrived meanwhile still counts.
    line.timer ??= setTimeout(() => setImmediate(() => check(line)), limits().patienceMs);
  }

  function check(line: WebhookQueue): void {
    line.timer = undefined;
    const { longestWaitMs, patienceMs } = limits();
    const time = performance.now();
    line.isStuck = isStuck(line, time, patienceMs);
    for (const waiter of [...line.forSlot, ...line.forPlace])
      if (line.isStuck || time - waiter.since >= longestWaitMs) waiter.giveUp();
    if (line.forSlot.size + line.forPlace.size > 0) watch(line);
    else close(line);
  }

  /** Something has become free: first for the webhook that has had nothing for longest. */
  function advance({ lines: atOrigin }: Origin): void {
    // A webhook that gets a slot is last then, and has its next turn after all others.
    for (const line of atOrigin) {
      for (const waiter of line.forSlot) {
        if (line.out.size >= slotsOf(line, slots())) break;
        waiter.go();
      }
      const { free, ahead } = places(line);
      // Several at a time, so that their claims share a statement; unless others would take them meanwhile.
      const least = isAlone(line) ? ahead / 2 : 1;
      if (free > 0 && free >= Math.min(line.forPlace.size, least))
        for (const waiter of [...line.forPlace].slice(0, free)) waiter.go();
      close(line);
    }
  }

  /** Forgets it when nobody is in it any more. */
  function close(line: WebhookQueue): void {
    const { webhookId, origin } = line;
    if (line.placed + line.out.size + line.forPlace.size > 0) return;
    clearTimeout(line.timer);
    origin.lines.delete(line);
    if (lines.get(webhookId) === line) lines.delete(webhookId);
    if (origin.lines.size === 0 && origins.get(origin.name) === origin) origins.delete(origin.name);
  }

  function placeIn(line: WebhookQueue, share: number): Permit {
    const { origin } = line;
    let isPlaced = true;
    const count = (sign: 1 | -1) => {
      line.placed += sign;
      origin.placed += sign;
      placed += sign;
    };
    count(1);
    const vacate = () => {
      isPlaced = false;
      count(-1);
    };
    const leave = () => {
      if (!isPlaced) return;
      vacate();
      advance(origin);
    };
    const start = (): OpenRequest => {
      const request = { at: performance.now() };
      vacate();
      line.out.add(request);
      origin.out += 1;
      inFlight += 1;
      // To the end: the others come first now.
      if (!isAlone(line)) origin.lines.delete(line);
      origin.lines.add(line);
      return request;
    };
    const end = (request: OpenRequest) => {
      const time = performance.now();
      for (const ended of [line, origin]) {
        ended.answeredAt = time;
        ended.paceMs = paceAfter(ended.paceMs, time - request.at);
      }
      line.out.delete(request);
      origin.out -= 1;
      inFlight -= 1;
      for (const other of origin.lines) if (other === line || other.out.size === 0) other.isStuck = false;
      advance(origin);
    };
    return {
      leave,
      post: async (work) => {
        const isFree = line.forSlot.size === 0 && line.out.size < slotsOf(line, slots());
        const request = isFree ? start() : await turn(line, line.forSlot, share, start);
        if (!request) {
          leave();
          return null;
        }
        return work().finally(() => end(request));
      },
    };
  }

  function lineOf(webhookId: string, name: string): WebhookQueue {
    const known = lines.get(webhookId);
    if (known?.origin.name === name) return known;
    const origin = origins.get(name) ?? newOrigin(name);
    origins.set(name, origin);
    const line = newLine(webhookId, origin);
    lines.set(webhookId, line);
    return line;
  }

  return {
    enter: async (webhookId, share = 1, origin = webhookId) => {
      const line = lineOf(webhookId, origin);
      const take = () => placeIn(line, share);
      if (line.forPlace.size === 0 && places(line).free > 0) return take();
      if (mayWait(line)) return turn(line, line.forPlace, share, take);
      close(line);
      return null;
    },
    counts: () => ({ inFlight, waiting }),
  };
}
