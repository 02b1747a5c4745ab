type BatcherOptions<Item, Result> = {
  maxItems: number;
  maxInFlight: number;
  /** The longest time that calls gather while a batch is in flight. */
  gatherMs?: number;
  /** The shortest time from the start of one batch to the start of the next, unless the next is full. */
  restMs?: number;
  /** Returns one result for each item, in order. When it throws, every call of the batch fails. */
  run: (items: Item[]) => Promise<Result[]>;
};

const usualGatherMs = 10;

/**
 * Gathers single calls into batches. If no batch is in flight, the next one begins at once, so an idle system does not
 * wait. While a batch is in flight, the next one begins when it is full or has gathered for `gatherMs`. So a busy
 * system uses one statement for many rows, and a statement that waits for a lock does not hold up the others for long.
 * With `restMs`, batches are made at that pace at most, for work that is not urgent.
 */
export function batcher<Item, Result>(
  options: BatcherOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  type Call = {
    item: Item;
    since: number;
    resolve: (result: Result) => void;
    reject: (error: unknown) => void;
  };
  const { gatherMs = usualGatherMs, restMs = 0 } = options;
  let waiting: Call[] = [];
  let inFlight = 0;
  let begunAt = Number.NEGATIVE_INFINITY;
  let scheduled = false;
  let gathering: NodeJS.Timeout | undefined;

  function flush(): void {
    scheduled = false;
    while (waiting.length > 0 && inFlight < options.maxInFlight && gatherLeftMs() <= 0) {
      const calls = waiting.slice(0, options.maxItems);
      waiting = waiting.slice(options.maxItems);
      inFlight += 1;
      begunAt = performance.now();
      void runBatch(calls);
    }
    // The calls that are left gather beside these batches.
    schedule();
  }

  async function runBatch(calls: Call[]): Promise<void> {
    try {
      const results = await options.run(calls.map((call) => call.item));
      calls.forEach((call, index) => call.resolve(results[index] as Result));
    } catch (error) {
      for (const call of calls) call.reject(error);
    } finally {
      inFlight -= 1;
      // This batch may have made the next one gather for longer than it has to now.
      clearTimeout(gathering);
      gathering = undefined;
      schedule();
    }
  }

  /** Returns how long the next batch is still to gather. */
  function gatherLeftMs(): number {
    if (waiting.length >= options.maxItems) return 0;
    const gatheredAt = inFlight === 0 ? 0 : waiting[0]!.since + gatherMs;
    return Math.max(gatheredAt, begunAt + restMs) - performance.now();
  }

  function schedule(): void {
    if (scheduled || waiting.length === 0 || inFlight >= options.maxInFlight) return;
    const leftMs = gatherLeftMs();
    if (leftMs > 0) {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        schedule();
      }, Math.ceil(leftMs));
      return;
    }
    scheduled = true;
    // This runs after the calls of this turn of the event loop, so that they share the batch.
    setImmediate(flush);
  }

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, since: performance.now(), resolve, reject });
      schedule();
    });
}

/**
 * Makes a batcher for each lane, so that an item waits only for items of its own lane. There must be few lanes: each
 * has its own batches in flight.
 */
export function batcherByLane<Item, Result>({
  laneOf,
  ...options
}: BatcherOptions<Item, Result> & { laneOf: (item: Item) => string }): (item: Item) => Promise<Result> {
  const batchers = new Map<string, (item: Item) => Promise<Result>>();
  return (item) => {
    const lane = laneOf(item);
    let own = batchers.get(lane);
    if (!own) {
      own = batcher(options);
      batchers.set(lane, own);
    }
    return own(item);
  };
}
