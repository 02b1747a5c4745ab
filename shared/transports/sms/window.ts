import type { TextMessage } from './gateway.ts';
import { insertByRank, rankOf } from './lane-order.ts';

/**
 * When no message has had an answer for this long, or for several times as long as the last answer took, the carrier is
 * silent. The others stop waiting for a place: they would hold up the messages for other carriers.
 */
const leastPatienceMs = 2_000;
const answersToWait = 3;

/**
 * Creates a window: at most `size` messages may be without an answer at a time, and the others wait for a place, those
 * of the most urgent lane first.
 */
export function createWindow(size: number) {
  const waiting: { rank: number; start: () => void; unsent: (detail: string) => void }[] = [];
  let inUse = 0;
  /** Since this time there has been no answer, although messages are under way. */
  let unansweredSince = performance.now();
  let patienceMs = leastPatienceMs;

  const isSilent = () => inUse > 0 && performance.now() - unansweredSince > patienceMs;

  function enter(): void {
    if (inUse === 0) unansweredSince = performance.now();
    inUse += 1;
  }

  /** Resolves with null once a place is taken, or with the reason why there is none in time. */
  function take(longestWaitMs: number, lane: TextMessage['lane']): Promise<string | null> {
    if (inUse < size) {
      enter();
      return Promise.resolve(null);
    }
    const end = performance.now() + longestWaitMs;
    let timer: NodeJS.Timeout | undefined;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const leave = (detail: string) => {
      clearTimeout(timer);
      const index = waiting.indexOf(own);
      if (index >= 0) waiting.splice(index, 1);
      resolve(detail);
    };
    const own = {
      rank: rankOf(lane),
      start: () => {
        clearTimeout(timer);
        enter();
        resolve(null);
      },
      unsent: leave,
    };
    const check = () => {
      const leftMs = end - performance.now();
      if (leftMs > 0 && !isSilent()) timer = setTimeout(check, Math.min(leftMs, patienceMs));
      else leave(leftMs > 0 ? 'the carrier is slow to answer' : 'there was no room in the window');
    };
    insertByRank(waiting, own);
    check();
    return promise;
  }

  return {
    take,
    /** Whether messages are under way of which none has had an answer lately. */
    isSilent,
    release: () => {
      inUse -= 1;
      waiting.shift()?.start();
    },
    /** Notes that a message has had its answer, after so long. */
    noteAnswer: (tookMs: number) => {
      unansweredSince = performance.now();
      patienceMs = Math.max(leastPatienceMs, answersToWait * tookMs);
    },
    /** Refuses all messages that wait for a place. */
    refuseAll: (detail: string) => {
      for (const { unsent } of waiting.splice(0)) unsent(detail);
    },
    inUse: () => inUse,
    /** Messages without an answer, and those that wait for a place. */
    load: () => inUse + waiting.length,
  };
}
