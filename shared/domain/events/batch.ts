import { config } from '../../config/config.ts';
import {
  listUnnumberedBefore,
  listUnnumberedEvents,
  listUnnumberedOfOthers,
  type UnnumberedEvent,
} from '../../db/events/events.system.ts';
import { listSubscribers, type Subscriber } from '../../db/webhooks/webhooks.system.ts';
import { idToBytes } from '../../formats/ids.ts';

/** A batch may have this many events and deliveries for each event of RELAY_BATCH. */
const rowsPerEvent = 20;

type RelayBatch = { events: UnnumberedEvent[]; subscribers: Subscriber[]; isLast: boolean };

/**
 * Returns the committed events that the relay numbers next, with the webhooks of their workspaces: the oldest. If these
 * have very many deliveries, the workspaces take turns, and the batch ends earlier. A workspace with a hundred webhooks and
 * a backlog of events then does not delay the events of the others.
 */
export async function nextBatch(at: Date): Promise<RelayBatch> {
  const oldest = await listUnnumberedEvents(config.RELAY_BATCH);
  const isFull = oldest.length >= config.RELAY_BATCH;
  const subscribers = await listSubscribers(workspacesOf(oldest), at);
  const mostRows = rowsPerEvent * config.RELAY_BATCH;
  if (rowsOf(oldest, subscribers) <= mostRows) {
    // A full batch may have cut the events of a record apart; only then can an earlier event of a record be outside it.
    const missed = isFull ? await listUnnumberedBefore(oldest) : [];
    return { events: [...oldest, ...missed], subscribers, isLast: !isFull };
  }
  const others = isFull ? await listUnnumberedOfOthers(workspacesOf(oldest)) : [];
  const all = [...subscribers, ...(await listSubscribers(workspacesOf(others), at))];
  const chosen = inTurns([...oldest, ...others], all, mostRows);
  return {
    events: [...chosen, ...(await listUnnumberedBefore(chosen))],
    subscribers: all,
    isLast: false,
  };
}

/** Takes an event of each workspace in turn, oldest first, until they have so many rows. */
function inTurns(events: UnnumberedEvent[], subscribers: Subscriber[], mostRows: number): UnnumberedEvent[] {
  const lists = [...Map.groupBy(events, keyOf).values()];
  const longest = Math.max(...lists.map((list) => list.length));
  const chosen: UnnumberedEvent[] = [];
  const rows = rowsOfEach(subscribers);
  let left = mostRows;
  for (let turn = 0; turn < longest; turn += 1)
    for (const list of lists) {
      const event = list[turn];
      if (!event) continue;
      left -= rows(event);
      if (left < 0 && chosen.length > 0) return chosen;
      chosen.push(event);
    }
  return chosen;
}

function rowsOf(events: UnnumberedEvent[], subscribers: Subscriber[]): number {
  const rows = rowsOfEach(subscribers);
  return events.reduce((sum, event) => sum + rows(event), 0);
}

/** Counts the event and a delivery to each webhook of its workspace, whether the webhook wants it or not. */
function rowsOfEach(subscribers: Subscriber[]): (event: UnnumberedEvent) => number {
  const webhooks = Map.groupBy(subscribers, ({ workspaceId }) => idToBytes(workspaceId).toString('latin1'));
  return (event) => 1 + (webhooks.get(keyOf(event))?.length ?? 0);
}

const keyOf = ({ workspaceId }: UnnumberedEvent) => workspaceId.toString('latin1');

function workspacesOf(events: UnnumberedEvent[]): Buffer[] {
  return [...new Map(events.map((event) => [keyOf(event), event.workspaceId])).values()];
}
