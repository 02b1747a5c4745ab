/**
 * Gathers single calls into batches without a timer: while a batch is on its way the next one fills, so an idle
 * system answers at once and a busy one spends one statement on many rows.
 * `run` returns one result per item, in order; when it throws, every call of the batch fails.
 */
export function batcher<Item, Result>(options: {
  maxItems: number;
  maxInFlight: number;
  run: (items: Item[]) => Promise<Result[]>;
}): (item: Item) => Promise<Result> {
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
