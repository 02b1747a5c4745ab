import {
  type CircuitBreaker,
  type CircuitBreakerTimes,
  createCircuitBreaker,
} from '../../../common/circuit-breaker.ts';
import { logger } from '../../../common/logger.ts';
import { count, gauge } from '../../../common/metrics.ts';
import type { HandOverResult } from '../../../transports/smtp.ts';

/**
 * The circuit breaker of this process for the relay. While the relay cannot be used, emails wait without an attempt of
 * their own, so that ten thousand emails neither hammer the relay nor use up their retries.
 */

type RelayCircuitBreaker = Pick<CircuitBreaker, 'pass' | 'isPaused'> & {
  /** Notes the result of a hand-over. */
  note: (result: HandOverResult) => void;
};

export function createRelayCircuitBreaker(
  times: CircuitBreakerTimes = { firstPauseMs: 1_000, longestPauseMs: 60_000, longestWaitMs: 2_000 },
): RelayCircuitBreaker {
  const pause = createCircuitBreaker(times, {
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

/** Returns whether the relay is at fault. A 421 means that the relay is closing, not a bad message (RFC 5321 §3.8). */
function isFaultOfRelay(result: HandOverResult): boolean {
  return result.kind === 'transport_fault' || (result.kind === 'refused' && result.code === 421);
}

export const relayCircuitBreaker = createRelayCircuitBreaker();
gauge('relay_paused', () => Number(relayCircuitBreaker.isPaused()));
