import { LRUCache } from 'lru-cache';
import { type CircuitBreaker, createCircuitBreaker, passBoth } from '../../common/circuit-breaker.ts';
import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';

const times = { firstPauseMs: 1_000, longestPauseMs: 30_000, longestWaitMs: 0 };
/** The most workspaces whose faults are known. */
const mostWorkspaces = 10_000;
/**
 * A workspace whose own breaker is open may probe a paused gateway only this long after others could. Texts of others
 * that were put off have come back by then.
 */
const behindOthersMs = 10_000;

/**
 * Creates the circuit breakers of this process for one gateway: one for all texts, and one for each workspace whose last
 * text failed.
 *
 * The cause of a failed text may be this text, for example a network that only its workspace sends to. So the fault
 * counts for its workspace, and for the gateway only until the breaker of the workspace opens. One workspace alone
 * therefore never stops a gateway for others. Two whose texts fail in a row do. A fault of the connection counts for the
 * gateway.
 */
export function createGatewayCircuitBreaker(gateway: string) {
  const shared = createCircuitBreaker(times, {
    paused: (pauseMs) => {
      count('sms_gateway_pauses', { gateway });
      logger.error(
        { gateway, pauseSeconds: pauseMs / 1000 },
        'a gateway does not answer, or puts off all texts; it is tried again after a pause',
      );
    },
    over: () => {
      logger.warn({ gateway }, 'a gateway answers again');
    },
  });
  /** `since`: the first of the faults in a row. */
  const own = new LRUCache<string, { breaker: CircuitBreaker; since: number }>({ max: mostWorkspaces });
  let answeredAt = 0;

  const newOwn = (workspaceId: string) =>
    createCircuitBreaker(times, {
      paused: (pauseMs) => {
        count('sms_gateway_workspace_pauses', { gateway });
        logger.warn(
          { gateway, workspaceId, pauseSeconds: pauseMs / 1000 },
          'a gateway takes no texts of a workspace; the next is tried after a pause',
        );
      },
      over: () => {
        logger.info({ gateway, workspaceId }, 'a gateway takes the texts of a workspace again');
      },
    });

  function noteFault(workspaceId: string): void {
    const known = own.get(workspaceId) ?? { breaker: newOwn(workspaceId), since: performance.now() };
    own.set(workspaceId, known);
    known.breaker.note(true);
    // Where the gateway is paused, the text was its probe.
    if (!known.breaker.isPaused() || shared.isPaused()) shared.note(true);
  }

  const behindMs = (breaker: CircuitBreaker | undefined) => (breaker?.isPaused() ? behindOthersMs : 0);

  return {
    /** Notes that the connection failed. */
    noteLost: () => shared.note(true),
    /** Notes whether the gateway failed at a text of the workspace: with a fault as its answer, or without one. */
    note: (workspaceId: string, isFault: boolean): void => {
      if (isFault) return noteFault(workspaceId);
      answeredAt = performance.now();
      shared.note(false);
      own.get(workspaceId)?.breaker.note(false);
      own.delete(workspaceId);
    },
    /**
     * Resolves at once: a text of the workspace may go on, or has to wait. `isOwn`: the gateway answers the texts of other
     * workspaces meanwhile.
     */
    pass: async (
      workspaceId: string,
    ): Promise<{ leave: () => void } | { waitMs: number; isOwn: boolean }> => {
      const known = own.get(workspaceId);
      const first = await known?.breaker.pass();
      if (first && 'waitMs' in first) return { ...first, isOwn: answeredAt > known!.since };
      const passShared = () => shared.pass(0, behindMs(known?.breaker));
      const pass = first ? await passBoth(first, passShared) : await passShared();
      return 'waitMs' in pass ? { ...pass, isOwn: false } : pass;
    },
    /** Whether a new text would have to wait; of any workspace, or of this one. */
    holdsBack: (workspaceId?: string): boolean => {
      const breaker = workspaceId === undefined ? undefined : own.get(workspaceId)?.breaker;
      return shared.holdsBack(behindMs(breaker)) || breaker?.holdsBack() === true;
    },
  };
}
