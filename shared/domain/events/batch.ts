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
 * Returns the committed events that the relay numbers next, with the webhooks of their workspaces. These are the oldest
 * events. If they have very many deliveries, the workspaces take turns, and the batch ends earlier. So a workspace with
 * a hundred webhooks and a backlog of events does not delay the events of the others.
 */
export async function nextBatch(at: Date): Promise<RelayBatch> {
  const oldest = await listUnnumberedEvents(config.RELAY_BATCH);
  const isFull = oldest.length >= config.RELAY_BATCH;
  const lists = byWorkspace(oldest);
  const subscribers = await listSubscribers(idsOf(lists), at);
  const mostRows = rowsPerEvent * config.RELAY_BATCH;
  if (rowsOfAll(lists, subscribers) <= mostRows) {
    // A full batch may have cut the events of a record apart; only then can an earlier event of a record be outside it.
    const missed = isFull ? await listUnnumberedBefore(oldest) : [];
    return { events: [...oldest, ...missed], subscribers, isLast: !isFull };
  }
  const others = byWorkspace(isFull ? await listUnnumberedOfOthers(idsOf(lists)) : []);
  const all = [...subscribers, ...(await listSubscribers(idsOf(others), at))];
  const chosen = inTurns(new Map([...lists, ...others]), all, mostRows);
  return {
    events: [...chosen, ...(await listUnnumberedBefore(chosen))],
    subscribers: all,
    isLast: false,
  };
}

/** The events of each workspace, by the bytes of its id as text. */
type ByWorkspace = Map<string, UnnumberedEvent[]>;

function byWorkspace(events: UnnumberedEvent[]): ByWorkspace {
  return Map.groupBy(events, ({ workspaceId }) => workspaceId.toString('latin1'));
}

function idsOf(lists: ByWorkspace): Buffer[] {
  return [...lists.values()].map(([first]) => first!.workspaceId);
}

/** Takes an event of each workspace in turn, oldest first, until the chosen events have `mostRows` rows. */
function inTurns(lists: ByWorkspace, subscribers: Subscriber[], mostRows: number): UnnumberedEvent[] {
  const longest = Math.max(...[...lists.values()].map((list) => list.length));
  const chosen: UnnumberedEvent[] = [];
  const rows = rowsOfOne(subscribers);
  let left = mostRows;
  for (let turn = 0; turn < longest; turn += 1)
    for (const [workspace, list] of lists) {
      const event = list[turn];
      if (!event) continue;
      left -= rows(workspace);
      if (left < 0 && chosen.length > 0) return chosen;
      chosen.push(event);
    }
  return chosen;
}

function rowsOfAll(lists: ByWorkspace, subscribers: Subscriber[]): number {
  const rows = rowsOfOne(subscribers);
  return [...lists].reduce((sum, [workspace, list]) => sum + list.length * rows(workspace), 0);
}

/** Counts an event of a workspace and a delivery to each webhook there, whether the webhook wants it or not. */
function rowsOfOne(subscribers: Subscriber[]): (workspace: string) => number {
  const webhooks = Map.groupBy(subscribers, ({ workspaceId }) => idToBytes(workspaceId).toString('latin1'));
  return (workspace) => 1 + (webhooks.get(workspace)?.length ?? 0);
}
