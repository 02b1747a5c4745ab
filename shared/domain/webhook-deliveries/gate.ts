/**
 * How many attempts at one webhook are under way in this process. Who must wait waits here and not in Redis, as fast
 * endpoints are done in a moment; who would wait for long, and so keep a place that others' deliveries need, is sent
 * away. A slot is held while the request is out; places are given a little ahead, for the claims.
 */

/** A place in a webhook's line. */
export type Place = {
  /** Does the work when there is a slot; null, and no work, when there was none in time. */
  post: <T extends object>(work: () => Promise<T>) => Promise<T | null>;
  /** Gives up a place that was not used; harmless after `post`. */
  leave: () => void;
};

/** For those who need not wait. */
export const open: Place = { post: (work) => work(), leave: () => undefined };

export type Gate = {
  /** Null for who is sent away. `share`: how much of a job that this process has taken is held up while it waits. */
  enter: (webhookId: string, share?: number) => Promise<Place | null>;
  /** Requests that are out, and deliveries that wait. */
  counts: () => { inFlight: number; waiting: number };
};

export type GateLimits = {
  /** Requests that are out to one webhook. */
  perWebhook: number;
  /** Towards this many requests that are out to all webhooks, each webhook gets fewer and fewer slots. */
  inFlight: number;
  /** So many have a place without a slot, whichever webhooks they are of; beyond, places are given for free slots only. */
  ahead: number;
  /** So many jobs may wait for slow webhooks; one of them may take half of that, two a third each, and so on. */
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

type Waiter = { since: number; share: number; go: () => void; giveUp: () => void };
type Request = { at: number };
type Line = {
  /** Have a place, and no request yet. */
  placed: number;
  /** Requests that are out, oldest first. */
  out: Set<Request>;
  /** Milliseconds of a request, of late; null before the first has ended. */
  paceMs: number | null;
  /** When the last one ended. */
  answeredAt: number;
  /** Its requests have been out for long, and none has ended lately. */
  isStuck: boolean;
  forPlace: Set<Waiter>;
  forSlot: Set<Waiter>;
  /** Looks after those who wait. */
  timer: NodeJS.Timeout | undefined;
};

const newLine = (): Line => ({
  placed: 0,
  out: new Set(),
  paceMs: null,
  answeredAt: Number.NEGATIVE_INFINITY,
  isStuck: false,
  forPlace: new Set(),
  forSlot: new Set(),
  timer: undefined,
});

/** Never fewer than this, however many webhooks there are. */
const fewestSlots = 2;
/** A webhook gets at most this part of the slots that are free. */
const partOfFree = 8;
/** Places are given for requests that can begin within this time. */
const aheadMs = 500;
const mostAhead = 200;
/** Where the wait is no longer than this, the line may be as long as it likes; others share the places to wait. */
const shortWaitMs = 1_000;

export function createGate(limits: () => GateLimits): Gate {
  const lines = new Map<string, Line>();
  let inFlight = 0;
  let waiting = 0;
  /** The same in jobs. */
  let jobsWaiting = 0;
  let placed = 0;

  function slots(): number {
    const free = Math.floor((limits().inFlight - inFlight) / partOfFree);
    return Math.min(limits().perWebhook, Math.max(fewestSlots, free));
  }

  /** What a request takes: as long as those before, and no less than the one that is out for longest. */
  function paceMs(line: Line): number {
    const [oldest] = line.out;
    return Math.max(line.paceMs ?? 0, oldest ? performance.now() - oldest.at : 0);
  }

  function places(line: Line): { free: number; ahead: number } {
    const pace = paceMs(line);
    const inTime = pace === 0 ? slots() : Math.min(mostAhead, Math.floor((slots() * aheadMs) / pace));
    const ahead = line.isStuck ? 0 : Math.max(0, Math.min(inTime, limits().ahead - placed));
    return { free: slots() + ahead - line.out.size - line.placed, ahead };
  }

  function mayWait(line: Line): boolean {
    if (line.isStuck) return false;
    // Nothing is known of it yet, and soon something will be.
    if (line.paceMs === null) return true;
    const waitMs = (line.forPlace.size * line.paceMs) / slots();
    const { waiting: mostJobs, isSaturated } = limits();
    if (waitMs <= shortWaitMs || isSaturated) return true;
    const jobs = [...line.forPlace].reduce((sum, { share }) => sum + share, 0);
    return jobs < mostJobs - jobsWaiting;
  }

  /** Resolves with what `start` returns, which runs at the moment of the turn; null when that does not come in time. */
  function turn<T>(line: Line, queue: Set<Waiter>, share: number, start: () => T): Promise<T | null> {
    waiting += 1;
    jobsWaiting += share;
    lookAfter(line);
    return new Promise((resolve) => {
      const end = (result: T | null) => {
        queue.delete(waiter);
        waiting -= 1;
        // Not the sum of parts that were never quite a whole.
        jobsWaiting = waiting === 0 ? 0 : jobsWaiting - share;
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

  function lookAfter(line: Line): void {
    // A turn of the event loop late: when this process itself stood still, what has arrived meanwhile still counts.
    line.timer ??= setTimeout(() => setImmediate(() => look(line)), limits().patienceMs);
  }

  function look(line: Line): void {
    line.timer = undefined;
    const { longestWaitMs, patienceMs } = limits();
    const time = performance.now();
    const [oldest] = line.out;
    line.isStuck = oldest !== undefined && time - Math.max(oldest.at, line.answeredAt) >= patienceMs;
    for (const waiter of [...line.forSlot, ...line.forPlace])
      if (line.isStuck || time - waiter.since >= longestWaitMs) waiter.giveUp();
    if (line.forSlot.size + line.forPlace.size > 0) lookAfter(line);
  }

  function advance(webhookId: string, line: Line): void {
    for (const waiter of line.forSlot) {
      if (line.out.size >= slots()) break;
      waiter.go();
    }
    const { free, ahead } = places(line);
    // Several at a time, so that their claims share a statement.
    if (free > 0 && free >= Math.min(line.forPlace.size, ahead / 2))
      for (const waiter of [...line.forPlace].slice(0, free)) waiter.go();
    if (line.placed + line.out.size + line.forPlace.size > 0) return;
    clearTimeout(line.timer);
    lines.delete(webhookId);
  }

  function placeIn(webhookId: string, line: Line, share: number): Place {
    let isPlaced = true;
    const vacate = () => {
      isPlaced = false;
      line.placed -= 1;
      placed -= 1;
    };
    const leave = () => {
      if (!isPlaced) return;
      vacate();
      advance(webhookId, line);
    };
    const start = (): Request => {
      const request = { at: performance.now() };
      vacate();
      line.out.add(request);
      inFlight += 1;
      return request;
    };
    const end = (request: Request) => {
      line.answeredAt = performance.now();
      line.isStuck = false;
      const tookMs = line.answeredAt - request.at;
      line.paceMs = line.paceMs === null ? tookMs : 0.8 * line.paceMs + 0.2 * tookMs;
      line.out.delete(request);
      inFlight -= 1;
      advance(webhookId, line);
    };
    return {
      leave,
      post: async (work) => {
        const isFree = line.forSlot.size === 0 && line.out.size < slots();
        const request = isFree ? start() : await turn(line, line.forSlot, share, start);
        if (!request) {
          leave();
          return null;
        }
        return work().finally(() => end(request));
      },
    };
  }

  return {
    enter: async (webhookId, share = 1) => {
      let line = lines.get(webhookId);
      if (!line) {
        line = newLine();
        lines.set(webhookId, line);
      }
      const own = line;
      const take = () => {
        own.placed += 1;
        placed += 1;
        return placeIn(webhookId, own, share);
      };
      if (own.forPlace.size === 0 && places(own).free > 0) return take();
      return mayWait(own) ? turn(own, own.forPlace, share, take) : null;
    },
    counts: () => ({ inFlight, waiting }),
  };
}
