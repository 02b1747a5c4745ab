import { isOutage } from './errors.ts';
import { logger } from './logger.ts';

/** Outages in a row that end the work: a single one may come from its piece alone, such as a row that is locked. */
const outagesToEnd = 3;

/**
 * Runs pieces of work that do not depend on each other, one after the other. A piece that fails is logged with this
 * message and does not stop the next ones; `end` throws the first fault once all have run.
 */
export function isolated(message: string) {
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
    /** Works on each item; an outage that lasts ends this. */
    async each<Item>(
      items: readonly Item[],
      nameOf: (item: Item) => object,
      work: (item: Item) => Promise<unknown>,
    ): Promise<void> {
      for (const item of items) {
        await run(nameOf(item), () => work(item));
        if (isInOutage()) break;
      }
    },
    end(): void {
      if (faults.length > 0) throw faults[0];
    },
  };
}
