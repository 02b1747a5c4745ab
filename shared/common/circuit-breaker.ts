import { setTimeout as sleep } from 'node:timers/promises';

/** `leave` is called once the work has ended, whatever its result. */
export type Pass = { waitMs: number } | { leave: () => void };

/**
 * A circuit breaker for something that all work of this process needs (the relay, the database). While it is unusable,
 * one piece of work at a time (the probe) tests whether it is back, after pauses that grow. All other work waits and
 * tries nothing.
 */
export type CircuitBreaker = {
  /**
   * Resolves when the work may go on; or, after `longestWaitMs`, with the time that it still has to wait. `behindMs`: the
   * work may be the probe only this long after other work could.
   */
  pass: (longestWaitMs?: number, behindMs?: number) => Promise<Pass>;
  /** Notes the result of work that went on. */
  note: (isFault: boolean) => void;
  isPaused: () => boolean;
  /** Whether new work would have to wait. False if it would be the probe. */
  holdsBack: (behindMs?: number) => boolean;
};

export type CircuitBreakerTimes = {
  firstPauseMs: number;
  longestPauseMs: number;
  /** How long work usually waits in this process before it goes back to Redis. */
  longestWaitMs: number;
};

/** Faults in a row that begin a pause; a single fault proves nothing. */
const faultsToPause = 3;
const pollEveryMs = 50;

const unpaused: Pass = { leave: () => undefined };

/** Goes on from a first breaker, whose `leave` is given, to a second one. Work that has to wait there leaves both. */
export async function passBoth(first: { leave: () => void }, second: () => Promise<Pass>): Promise<Pass> {
  const pass = await second();
  if ('waitMs' in pass) {
    first.leave();
    return pass;
  }
  return {
    leave: () => {
      first.leave();
      pass.leave();
    },
  };
}

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

  /** Makes one piece of work the probe. It goes ahead of the others. The next probe may go once this one has left. */
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
    holdsBack: (behindMs = 0) => isPaused() && (probe !== null || performance.now() < until + behindMs),
    pass: async (longestWaitMs = times.longestWaitMs, behindMs = 0) => {
      const end = performance.now() + longestWaitMs;
      while (isPaused()) {
        const time = performance.now();
        if (time >= until + behindMs && !probe) return newProbe();
        if (time >= end) return { waitMs: Math.max(pollEveryMs, until + behindMs - time) };
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
      // A fault of work that had started before the pause proves nothing new.
      if (isPaused() ? probe !== null && performance.now() >= until : faults >= faultsToPause) pause();
    },
  };
}
