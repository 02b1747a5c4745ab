import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long a piece of work may hold the event loop before others get their turn. */
const sliceMs = 10;

/**
 * For a loop over many items of a customer, each of which takes little time. When the time slice is used up, `next`
 * lets the event loop serve others and begins another slice. Awaiting settled promises alone would give others no turn.
 */
export function timeSlices() {
  let endsAt = performance.now() + sliceMs;
  return {
    isOver: (): boolean => performance.now() >= endsAt,
    async next(): Promise<void> {
      await nextTurn();
      endsAt = performance.now() + sliceMs;
    },
  };
}
