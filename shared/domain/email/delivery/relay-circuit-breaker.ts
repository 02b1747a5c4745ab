import { LRUCache } from 'lru-cache';
import {
  type CircuitBreaker,
  type CircuitBreakerTimes,
  createCircuitBreaker,
  type Pass,
  passBoth,
} from '../../../common/circuit-breaker.ts';
import { logger } from '../../../common/logger.ts';
import { count, gauge } from '../../../common/metrics.ts';
import type { HandOverResult } from '../../../transports/smtp.ts';

/**
 * The circuit breakers of this process for the relay. While the relay cannot be used, emails wait without an attempt of
 * their own, so that ten thousand emails neither hammer the relay nor use up their retries.
 *
 * Only a fault of a session says something about the relay: it was not there, or did not greet us. If the relay has
 * greeted us and then fails at a message, the cause may be that message, such as a recipient's domain that hangs. So
 * such faults pause the emails of the message's workspace alone.
 */

type RelayCircuitBreaker = {
  /** Resolves when an email of the workspace may go on, or with the time that it still has to wait. */
  pass: (workspaceId?: string) => Promise<Pass>;
  isPaused: (workspaceId?: string) => boolean;
  /** Returns how long an email has to wait because its workspace is paused; 0 if it may go on, perhaps as the probe. */
  ownPauseMs: (workspaceId?: string) => Promise<number>;
  /** Notes the result of a hand-over. */
  note: (workspaceId: string, result: HandOverResult) => void;
};

/** The most workspaces whose faults are known. */
const mostWorkspaces = 10_000;

export function createRelayCircuitBreaker(
  times: CircuitBreakerTimes = { firstPauseMs: 1_000, longestPauseMs: 60_000, longestWaitMs: 2_000 },
): RelayCircuitBreaker {
  const relay = createCircuitBreaker(times, {
    paused: (pauseMs) => {
      count('relay_pauses');
      logger.error(
        { pauseSeconds: pauseMs / 1000 },
        'the relay cannot be used; it is tried again after a pause',
      );
    },
    over: () => logger.warn('the relay can be used again'),
  });
  /** The breakers of workspaces whose last hand-over was a fault. */
  const own = new LRUCache<string, CircuitBreaker>({ max: mostWorkspaces });
  const newOwn = (workspaceId: string) =>
    createCircuitBreaker(times, {
      paused: (pauseMs) => {
        count('relay_workspace_pauses');
        logger.warn(
          { workspaceId, pauseSeconds: pauseMs / 1000 },
          'the relay takes no email of a workspace; the next is tried after a pause',
        );
      },
      over: () => logger.info({ workspaceId }, 'the relay takes the emails of a workspace again'),
    });
  const ownOf = (workspaceId: string | undefined) =>
    workspaceId === undefined ? undefined : own.get(workspaceId);
  async function passOwn(workspaceId: string | undefined): Promise<Pass | undefined> {
    // The emails wait in Redis: in this process they would take the turns of others.
    const pass = await ownOf(workspaceId)?.pass(0);
    return pass && 'waitMs' in pass ? { waitMs: Math.max(pass.waitMs, times.longestWaitMs) } : pass;
  }

  return {
    isPaused: (workspaceId) => relay.isPaused() || ownOf(workspaceId)?.isPaused() === true,
    ownPauseMs: async (workspaceId) => {
      if (!ownOf(workspaceId)?.holdsBack()) return 0;
      const pass = await passOwn(workspaceId);
      if (pass && 'waitMs' in pass) return pass.waitMs;
      pass?.leave();
      return 0;
    },
    pass: async (workspaceId) => {
      const first = await passOwn(workspaceId);
      if (!first) return relay.pass();
      if ('waitMs' in first) return first;
      return passBoth(first, () => relay.pass());
    },
    note: (workspaceId, result) => {
      if (result.kind === 'unread' || result.kind === 'busy') return;
      const isSessionFault = result.kind === 'transport_fault' && result.at === 'session';
      // A lost answer says nothing about the relay: it may have hung at this message, or may be gone.
      if (result.kind !== 'uncertain') relay.note(isSessionFault);
      if (isSessionFault) return;
      // A 421 means that the relay is closing, not a bad message (RFC 5321 §3.8).
      const isFault = result.kind === 'refused' ? result.code === 421 : result.kind !== 'accepted';
      if (isFault && !own.has(workspaceId)) own.set(workspaceId, newOwn(workspaceId));
      ownOf(workspaceId)?.note(isFault);
      if (!isFault) own.delete(workspaceId);
    },
  };
}

export const relayCircuitBreaker = createRelayCircuitBreaker();
gauge('relay_paused', () => Number(relayCircuitBreaker.isPaused()));
