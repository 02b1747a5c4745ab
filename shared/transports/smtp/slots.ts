import { createFairShares } from '../../common/fair-shares.ts';
import { type EmailLane, emailLanes } from '../../schemas/lanes.ts';

/** Whom a slot is for. `owner`: the workspace; left out for nobody, who needs no share. */
export type SlotWish = { lane: EmailLane; owner?: string | undefined };

/** Gives a slot back; more than once does no harm. `wasUsed`: for a hand-over. */
export type ReleaseSlot = (wasUsed: boolean) => void;

/**
 * Slots for speaking to the relay: a fixed number at a time. When slots are scarce, higher lanes come first. The
 * workspaces of a lane share its slots fairly.
 */
export type Slots = {
  /** Null when no slot came free in time. */
  take(wish: SlotWish, waitMs: number): Promise<ReleaseSlot | null>;
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

type SlotWaiter = SlotWish & { start: () => void };

export function createSlots(total: number): Slots {
  const shares = createFairShares();
  const held = new Set<SlotWish>();
  let waiting: SlotWaiter[] = [];
  let given = 0;

  const sharerOf = ({ lane, owner }: SlotWish) => `${lane} ${owner}`;

  /**
   * Tells whether there is a slot. A lane and all lower ones share a limit, which leaves slots for the higher lanes.
   * The workspace has its share of that limit.
   */
  function mayHave(wish: SlotWish): boolean {
    const place = emailLanes.indexOf(wish.lane);
    const limit = total - place * Math.floor(total / keptPart);
    let [own, others] = [0, 0];
    for (const { lane, owner } of held) {
      if (emailLanes.indexOf(lane) < place) continue;
      if (owner === wish.owner) own += 1;
      else others += 1;
    }
    if (held.size >= total || own + others >= limit) return false;
    return wish.owner === undefined || own < shares.mostBeside(sharerOf(wish), others, limit);
  }

  function hold(wish: SlotWish): ReleaseSlot {
    const slot = { ...wish };
    held.add(slot);
    const end = shares.begin(sharerOf(wish));
    return (wasUsed) => {
      if (!held.delete(slot)) return;
      end(wasUsed);
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
    take: async (wish, waitMs) => {
      if (waiting.length === 0 && mayHave(wish)) return hold(wish);
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting = waiting.filter((one) => one !== waiter);
          resolve(null);
        }, waitMs);
        const waiter: SlotWaiter = {
          ...wish,
          start: () => {
            clearTimeout(timer);
            resolve(hold(wish));
          },
        };
        waiting.push(waiter);
        serve();
      });
    },
    isQuick: (wish) => wish.owner === undefined || shares.isQuick(sharerOf(wish)),
    busy: () => held.size,
    waiting: () => waiting.length,
  };
}
