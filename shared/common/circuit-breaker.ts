import { setTimeout as sleep } from 'node:timers/promises';

/** `leave`: nothing more is to come of the work, whatever became of it. */
export type Pass = { waitMs: number } | { leave: () => void };

/**
 * Something that all work needs (the relay, the database), as this process finds it. While it cannot be used, one piece
 * of work at a time finds out whether it is back, after pauses that grow; the others wait without a try of their own.
 */
export type CircuitBreaker = {
  /** When the work may go on; or how long it has to wait, after it has waited in hand for so long. */
  pass: (longestWaitMs?: number) => Promise<Pass>;
  /** Notes the result of work that went on. */
  note: (isFault: boolean) => void;
  isPaused: () => boolean;
  /** Work that came now would have to wait: not where it would be the one that finds out. */
  holdsBack: () => boolean;
};

export type CircuitBreakerTimes = {
  firstPauseMs: number;
  longestPauseMs: number;
  /** How long work waits in hand as a rule, before it goes back to Redis. */
  longestWaitMs: number;
};

/** In a row: one that breaks once says nothing. */
const faultsToPause = 3;
const pollEveryMs = 50;

const unpaused: Pass = { leave: () => undefined };

export function createCircuitBreaker(
  times: CircuitBreakerTimes,
  report: { paused: (pauseMs: number) => void; over: () => void },
): CircuitBreaker {
  let faults = 0;
  let pauseMs = 0;
  let until = 0;
  let probe: Pass | null = null;

  const isPaused = () => pauseMs > 0;

  function pause(): void {
    pauseMs = Math.min(times.longestPauseMs, pauseMs === 0 ? times.firstPauseMs : pauseMs * 2);
    until = performance.now() + pauseMs;
    report.paused(pauseMs);
  }

  /** One goes ahead of the others, and the next when it is over. */
  function newProbe(): Pass {
    const own: Pass = {
      leave: () => {
        if (probe === own) probe = null;
      },
    };
    probe = own;
    return own;
  }

  return {
    isPaused,
    holdsBack: () => isPaused() && (probe !== null || performance.now() < until),
    pass: async (longestWaitMs = times.longestWaitMs) => {
      const end = performance.now() + longestWaitMs;
      while (isPaused()) {
        const time = performance.now();
        if (time >= until && !probe) return newProbe();
        if (time >= end) return { waitMs: Math.max(pollEveryMs, until - time) };
        await sleep(Math.min(pollEveryMs, longestWaitMs));
      }
      return unpaused;
    },
    note: (isFault) => {
      if (!isFault) {
        if (isPaused()) report.over();
        [faults, pauseMs, probe] = [0, 0, null];
        return;
      }
      faults += 1;
      // Work that was out already when the pause began says nothing new.
      if (isPaused() ? probe !== null && performance.now() >= until : faults >= faultsToPause) pause();
    },
  };
}
