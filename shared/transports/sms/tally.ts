import { smsLanes } from '../../schemas/lanes.ts';
import type { TextOfLane } from './gateway.ts';
import { rankOf } from './lane-order.ts';

/** Counts texts by lane and workspace. It holds only workspaces that have some now. */
export function createTally() {
  const lanes = smsLanes.map(() => new Map<string, number>());
  const totals = smsLanes.map(() => 0);
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

  return {
    add({ lane, workspaceId }: TextOfLane, by: 1 | -1): void {
      const rank = rankOf(lane);
      const own = lanes[rank]!;
      totals[rank]! += by;
      const left = (own.get(workspaceId) ?? 0) + by;
      if (left === 0) own.delete(workspaceId);
      else own.set(workspaceId, left);
    },
    total: (): number => sum(totals),
    /**
     * Whether another text would be too many beside those of its lane and of more urgent lanes, of which there may be
     * `most`. A workspace that has less than an equal share of its lane may have a few texts beyond that, up to `extra` of
     * all workspaces.
     */
    isFull({ lane, workspaceId }: TextOfLane, most: number, extra: number): boolean {
      const rank = rankOf(lane);
      const all = sum(totals.slice(0, rank + 1));
      if (all < most) return false;
      const own = lanes[rank]!.get(workspaceId) ?? 0;
      const workspaces = lanes[rank]!.size + (own === 0 ? 1 : 0);
      return all >= most + extra || own >= most / workspaces;
    },
  };
}
