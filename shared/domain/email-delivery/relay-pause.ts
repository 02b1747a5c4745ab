import { setTimeout as sleep } from 'node:timers/promises';
import { logger } from '../../logger.ts';
import { count, gauge } from '../../metrics.ts';
import type { HandOverResult } from '../../transports/smtp.ts';

/**
 * The relay as a whole, as this process finds it. While it cannot be used, one email at a time finds out whether it is
 * back, after pauses that grow; the others wait without an attempt of their own, so that ten thousand of them neither
 * hammer it nor use up their retries.
 */

/** In a row: a connection that breaks once says nothing about the relay. */
const faultsToPause = 3;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** How long an email waits in hand, before it goes back to Redis. */
const longestWaitMs = 2_000;
const lookEveryMs = 50;

/** `leave`: nothing more is to come of the email, whether it was handed over or not. */
type Pass = { waitMs: number } | { leave: () => void };

export type RelayPause = {
  /** When the email may go; or how long it has to wait. */
  pass: () => Promise<Pass>;
  /** What came of an email that went. */
  note: (result: HandOverResult) => void;
  isPaused: () => boolean;
};

const unpaused: Pass = { leave: () => undefined };

export function createRelayPause(times = { firstPauseMs, longestPauseMs, longestWaitMs }): RelayPause {
  let faults = 0;
  let pauseMs = 0;
  let until = 0;
  let probe: Pass | null = null;

  const isPaused = () => pauseMs > 0;

  function pause(): void {
    pauseMs = Math.min(times.longestPauseMs, pauseMs === 0 ? times.firstPauseMs : pauseMs * 2);
    until = performance.now() + pauseMs;
    count('relay_pauses');
    logger.error(
      { pauseSeconds: pauseMs / 1000 },
      'the relay cannot be used; it is tried again after a pause',
    );
  }

  /** One email goes ahead of the others, and the next when it is over. */
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
    pass: async () => {
      const end = performance.now() + times.longestWaitMs;
      while (isPaused()) {
        const time = performance.now();
        if (time >= until && !probe) return newProbe();
        if (time >= end) return { waitMs: Math.max(lookEveryMs, until - time) };
        await sleep(Math.min(lookEveryMs, times.longestWaitMs));
      }
      return unpaused;
    },
    note: (result) => {
      if (result.kind === 'uncertain' || result.kind === 'unread') return;
      if (!isFaultOfRelay(result)) {
        if (isPaused()) logger.warn('the relay can be used again');
        [faults, pauseMs, probe] = [0, 0, null];
        return;
      }
      faults += 1;
      // Those that were out already when the pause began say nothing new.
      if (isPaused() ? probe !== null && performance.now() >= until : faults >= faultsToPause) pause();
    },
  };
}

/** A 421 is the relay closing: the message is not to blame (RFC 5321 §3.8). */
function isFaultOfRelay(result: HandOverResult): boolean {
  return result.kind === 'transport_fault' || (result.kind === 'refused' && result.code === 421);
}

export const relayPause = createRelayPause();
gauge('relay_paused', () => Number(relayPause.isPaused()));
