import { createFairShares } from '../../common/fair-shares.ts';
import { type EmailLane, emailLanes } from '../../schemas/lanes.ts';

/** Whom a slot is for. `owner`: the workspace; left out for nobody, who needs no share. */
export type SlotWish = { lane: EmailLane; owner?: string | undefined };

/** Gives a slot back; more than once does no harm. `isProof`: the relay has answered an email on it. */
export type ReleaseSlot = (isProof: boolean) => void;

/**
 * Slots for speaking to the relay: a fixed number at a time. When slots are scarce, higher lanes come first. The
 * workspaces of a lane share its slots fairly.
 */
export type Slots = {
  /** Null when no slot came free in time, or at once if so many wishes of the workspace in this lane wait already. */
  take(wish: SlotWish, waitMs: number, mostWaiting?: number): Promise<ReleaseSlot | null>;
  /** Whether the workspace is known to give its slots back soon. */
  isQuick(wish: SlotWish): boolean;
  busy(): number;
  waiting(): number;
};

/**
 * One slot in this many stays free of each lower lane, so that a one-time code need not wait for the messages under
 * way.
 */
const keptPart = 10;
/** Every eighth slot goes to the longest waiter of any lane, so that the last lane moves on too. */
const fairEvery = 8;

/** `place`: of the lane, the first one first. `sharer`: the workspace in this lane. */
type Slot = { place: number; sharer: string };
type SlotWaiter = SlotWish & Slot & { start: () => void };

const slotOf = ({ lane, owner }: SlotWish): Slot => ({
  place: emailLanes.indexOf(lane),
  sharer: `${lane} ${owner}`,
});

export function createSlots(total: number): Slots {
  const shares = createFairShares();
  const held = new Set<Slot>();
  let waiting: SlotWaiter[] = [];
  let given = 0;

  /**
   * Tells whether there is a slot. A lane and all lower ones share a limit, which leaves slots for the higher lanes.
   * The workspace has its share of that limit in each lane.
   */
  function mayHave({ place, sharer, owner }: Slot & SlotWish): boolean {
    const limit = total - place * Math.floor(total / keptPart);
    const others: string[] = [];
    let own = 0;
    for (const slot of held) {
      if (slot.place < place) continue;
      if (slot.sharer === sharer) own += 1;
      else others.push(slot.sharer);
    }
    if (held.size >= total || own + others.length >= limit) return false;
    return owner === undefined || own < shares.mostBeside(sharer, others, limit);
  }

  function hold({ place, sharer }: Slot): ReleaseSlot {
    const slot = { place, sharer };
    held.add(slot);
    const end = shares.begin(sharer);
    return (isProof) => {
      if (!held.delete(slot)) return;
      end(isProof);
      serve();
    };
  }

  function next(): SlotWaiter | undefined {
    const able = waiting.filter(mayHave);
    if (given % fairEvery === fairEvery - 1) return able[0];
    return emailLanes.flatMap((lane) => able.find((waiter) => waiter.lane === lane) ?? [])[0];
  }

  function serve(): void {
    for (;;) {
      const waiter = next();
      if (!waiter) return;
      given += 1;
      waiting = waiting.filter((one) => one !== waiter);
      waiter.start();
    }
  }

  return {
    take: async (wish, waitMs, mostWaiting = Number.POSITIVE_INFINITY) => {
      const slot = slotOf(wish);
      if (waiting.length === 0 && mayHave({ ...wish, ...slot })) return hold(slot);
      if (waiting.filter(({ sharer }) => sharer === slot.sharer).length >= mostWaiting) return null;
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting = waiting.filter((one) => one !== waiter);
          resolve(null);
        }, waitMs);
        const waiter: SlotWaiter = {
          ...wish,
          ...slot,
          start: () => {
            clearTimeout(timer);
            resolve(hold(slot));
          },
        };
        waiting.push(waiter);
        serve();
      });
    },
    isQuick: (wish) => wish.owner === undefined || shares.isQuick(slotOf(wish).sharer),
    busy: () => held.size,
    waiting: () => waiting.length,
  };
}
