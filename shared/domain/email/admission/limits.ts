import { batcher } from '../../../common/batcher.ts';
import { now } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import { outsideTransaction } from '../../../db/client.ts';
import type { EmailKind } from '../../../db/email/emails.ts';
import { updateGivenBack, updateTaken } from '../../../db/email/limits.system.ts';
import { emailLanes } from '../../../schemas/lanes.ts';

type TurnRequest = { workspaceId: string; kind: EmailKind };

/**
 * Counts an email of a workspace with limits against them, and returns the time that it counts at; null if it may not
 * go out now.
 */
export function takeTurn(wish: TurnRequest): Promise<Date | null> {
  return outsideTransaction(() => turns(wish));
}

/** Frees the place of an email that counts at this time and was not handed over. If that fails, it still counts. */
export async function giveTurnBack(workspaceId: string, takenAt: Date): Promise<void> {
  try {
    await outsideTransaction(() => updateGivenBack(workspaceId, takenAt));
  } catch (error) {
    // A second try might free two places, if the first one succeeded and only its answer was lost.
    logger.debug({ err: error, workspaceId }, 'an email that was put off still counts against the limits');
  }
}

const turns = batcher<TurnRequest, Date | null>({
  maxItems: 50,
  maxInFlight: 2,
  run: async (wishes) => {
    const granted = wishes.map((): Date | null => null);
    const byWorkspace = Map.groupBy(wishes.keys(), (index) => wishes[index]!.workspaceId);
    for (const [workspaceId, indexes] of byWorkspace) {
      const at = now();
      const taken = await updateTaken(workspaceId, indexes.length, at);
      const rankOf = (index: number) => emailLanes.indexOf(wishes[index]!.kind);
      for (const index of indexes.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, taken))
        granted[index] = at;
    }
    return granted;
  },
});
