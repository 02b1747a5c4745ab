import { batcher } from '../../../common/batcher.ts';
import { now } from '../../../common/clock.ts';
import { outsideTransaction } from '../../../db/client.ts';
import type { EmailKind } from '../../../db/email/emails.ts';
import { updateTaken } from '../../../db/email/limits.system.ts';
import { emailLanes } from '../../../schemas/lanes.ts';

type Wish = { workspaceId: string; kind: EmailKind };

/** Returns whether an email of a workspace with limits may go out now. If so, it counts against the limits. */
export function takeTurn(wish: Wish): Promise<boolean> {
  return outsideTransaction(() => turns(wish));
}

const turns = batcher<Wish, boolean>({
  maxItems: 50,
  maxInFlight: 2,
  run: async (wishes) => {
    const isGranted = wishes.map(() => false);
    const byWorkspace = Map.groupBy(wishes.keys(), (index) => wishes[index]!.workspaceId);
    for (const [workspaceId, indexes] of byWorkspace) {
      const taken = await updateTaken(workspaceId, indexes.length, now());
      const rankOf = (index: number) => emailLanes.indexOf(wishes[index]!.kind);
      for (const index of indexes.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, taken))
        isGranted[index] = true;
    }
    return isGranted;
  },
});
