import { LRUCache } from 'lru-cache';
import { smsLanes } from '../../schemas/lanes.ts';
import type { TextOfLane } from './gateway.ts';
import { rankOf } from './lane-order.ts';

/** The most workspaces of a lane whose texts have an order of their own. The others share one. */
const mostWorkspaces = 5_000;
/** Workspaces whose texts have all come back are forgotten this often. */
const forgetEveryMs = 1_000;

/**
 * Decides when texts that wait for a gateway come back: those of a workspace in a lane one after the other, and each
 * workspace beside the others. The more workspaces wait, the further apart the texts of each come, so that all together
 * come about as often as those of one.
 */
export function createReturnTimes() {
  const lanes = smsLanes.map(() => ({
    /** For each workspace: when the last of its texts comes back. */
    lasts: new LRUCache<string, number>({ max: mostWorkspaces }),
    /** When the last text comes back that was the only one of its workspace. */
    lastSingle: Number.NEGATIVE_INFINITY,
  }));
  let forgottenAt = Number.NEGATIVE_INFINITY;

  function forgetPast(time: number): void {
    if (time - forgottenAt < forgetEveryMs) return;
    forgottenAt = time;
    for (const { lasts } of lanes) {
      const past = [...lasts].filter(([, last]) => last <= time);
      for (const [workspaceId] of past) lasts.delete(workspaceId);
    }
  }

  return {
    /**
     * Returns when the text comes back, `earliest` or later. `gapOf`: the time between two texts of all, if the text
     * before this one comes back after so many milliseconds.
     */
    next({ lane, workspaceId }: TextOfLane, earliest: number, gapOf: (aheadMs: number) => number): number {
      const time = performance.now();
      forgetPast(time);
      const own = lanes[rankOf(lane)]!;
      const last = own.lasts.get(workspaceId) ?? time;
      // A workspace of which no text waits does not wait behind those of others that have many. If there are many such
      // workspaces, their texts come one after the other too.
      const isSingle = last <= time;
      const before = isSingle ? own.lastSingle : last;
      const at = Math.max(earliest, before + gapOf(before - time) * (isSingle ? 1 : own.lasts.size));
      own.lasts.set(workspaceId, at);
      if (isSingle) own.lastSingle = at;
      return at;
    },
    /** Forgets all texts: the next ones need not wait behind them. */
    clear(): void {
      for (const lane of lanes) {
        lane.lasts.clear();
        lane.lastSingle = Number.NEGATIVE_INFINITY;
      }
    },
  };
}
