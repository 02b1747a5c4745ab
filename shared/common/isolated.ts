import { isOutage } from './errors.ts';
import { logger } from './logger.ts';

/**
 * Runs pieces of work that do not depend on each other, one after the other. A piece that fails is logged with this
 * message and does not stop the next ones; `end` throws the first fault once all have run.
 */
export function isolated(message: string) {
  const faults: unknown[] = [];
  /** Returns the result of the piece; undefined where it has failed. */
  async function run<Result>(piece: object, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      logger.warn({ err: error, ...piece }, message);
      faults.push(error);
      return undefined;
    }
  }
  return {
    run,
    /** Works on each item. An outage ends this: all items after it would meet the same one. */
    async each<Item>(
      items: readonly Item[],
      nameOf: (item: Item) => object,
      work: (item: Item) => Promise<unknown>,
    ): Promise<void> {
      for (const item of items) {
        await run(nameOf(item), () => work(item));
        if (isOutage(faults.at(-1))) break;
      }
    },
    end(): void {
      if (faults.length > 0) throw faults[0];
    },
  };
}
