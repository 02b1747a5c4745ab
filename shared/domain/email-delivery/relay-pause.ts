import { logger } from '../../logger.ts';
import { count, gauge } from '../../metrics.ts';
import { createPause, type Pause, type PauseTimes } from '../../pause.ts';
import type { HandOverResult } from '../../transports/smtp.ts';

/**
 * The relay as a whole, as this process finds it. While it cannot be used, emails wait without an attempt of their own,
 * so that ten thousand of them neither hammer it nor use up their retries.
 */

export type RelayPause = Pick<Pause, 'pass' | 'isPaused'> & {
  /** What came of an email that went. */
  note: (result: HandOverResult) => void;
};

export function createRelayPause(
  times: PauseTimes = { firstPauseMs: 1_000, longestPauseMs: 60_000, longestWaitMs: 2_000 },
): RelayPause {
  const pause = createPause(times, {
    paused: (pauseMs) => {
      count('relay_pauses');
      logger.error(
        { pauseSeconds: pauseMs / 1000 },
        'the relay cannot be used; it is tried again after a pause',
      );
    },
    over: () => logger.warn('the relay can be used again'),
  });
  return {
    ...pause,
    note: (result) => {
      if (result.kind !== 'uncertain' && result.kind !== 'unread') pause.note(isFaultOfRelay(result));
    },
  };
}

/** A 421 is the relay closing: the message is not to blame (RFC 5321 §3.8). */
function isFaultOfRelay(result: HandOverResult): boolean {
  return result.kind === 'transport_fault' || (result.kind === 'refused' && result.code === 421);
}

export const relayPause = createRelayPause();
gauge('relay_paused', () => Number(relayPause.isPaused()));
