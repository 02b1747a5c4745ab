type Options<Item, Result> = {
  maxItems: number;
  maxInFlight: number;
  /** Returns one result for each item, in order. When it throws, every call of the batch fails. */
  run: (items: Item[]) => Promise<Result[]>;
};

/**
 * Gathers single calls into batches without a timer: while a batch is on its way the next one fills, so an idle
 * system answers at once and a busy one spends one statement on many rows.
 */
export function batcher<Item, Result>(options: Options<Item, Result>): (item: Item) => Promise<Result> {
  type Call = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };
  let waiting: Call[] = [];
  let inFlight = 0;
  let scheduled = false;

  async function flush(): Promise<void> {
    scheduled = false;
    while (waiting.length > 0 && inFlight < options.maxInFlight) {
      const calls = waiting.slice(0, options.maxItems);
      waiting = waiting.slice(options.maxItems);
      inFlight += 1;
      void runBatch(calls);
    }
  }

  async function runBatch(calls: Call[]): Promise<void> {
    try {
      const results = await options.run(calls.map((call) => call.item));
      calls.forEach((call, index) => call.resolve(results[index] as Result));
    } catch (error) {
      for (const call of calls) call.reject(error);
    } finally {
      inFlight -= 1;
      schedule();
    }
  }

  function schedule(): void {
    if (scheduled || waiting.length === 0 || inFlight >= options.maxInFlight) return;
    scheduled = true;
    // After the calls that this turn of the event loop brings.
    setImmediate(() => void flush());
  }

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
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
}: Options<Item, Result> & { laneOf: (item: Item) => string }): (item: Item) => Promise<Result> {
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
