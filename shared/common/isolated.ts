import { isOutage } from './errors.ts';
import { logger } from './logger.ts';

/** Outages in a row that end the work: a single one may come from its piece alone, such as a row that is locked. */
const outagesToEnd = 3;

/**
 * The longest time for the items of one list: each item may wait for a lock, and other work waits until the list is
 * done.
 */
const longestRoundMs = 20_000;

/**
 * Runs pieces of work that do not depend on each other, one after the other. A piece that fails is logged with this
 * message and does not stop the next ones; `end` throws the first fault once all have run.
 */
export function isolated(message: string, longestMs = longestRoundMs) {
  const faults: unknown[] = [];
  let outages = 0;
  /** Returns the result of the piece; undefined where it has failed. */
  async function run<Result>(piece: object, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      const result = await work();
      outages = 0;
      return result;
    } catch (error) {
      outages = isOutage(error) ? outages + 1 : 0;
      logger.warn({ err: error, ...piece }, message);
      faults.push(error);
      return undefined;
    }
  }
  /** Whether the last pieces have all met an outage: the next ones would meet it too. */
  const isInOutage = () => outages >= outagesToEnd;
  return {
    run,
    isInOutage,
    /**
     * Works on each item, until an outage lasts or the longest time of a round is over. The next run does the rest.
     * Each round begins with a random item, so that items which fail do not always come first. Returns whether every
     * item had its turn.
     */
    async each<Item>(
      items: readonly Item[],
      nameOf: (item: Item) => object,
      work: (item: Item) => Promise<unknown>,
    ): Promise<boolean> {
      const until = performance.now() + longestMs;
      const first = Math.floor(Math.random() * items.length);
      for (const item of [...items.slice(first), ...items.slice(0, first)]) {
        if (isInOutage() || performance.now() >= until) return false;
        await run(nameOf(item), () => work(item));
      }
      return true;
    },
    end(): void {
      if (faults.length > 0) throw faults[0];
    },
  };
}
