import { type EmailLane, emailLanes } from '../../schemas/lanes.ts';

/** Slots for speaking to the relay: a fixed number at a time. When slots are scarce, higher lanes come first. */
export type Slots = {
  /** False when the signal came first. */
  take(lane: EmailLane, signal: AbortSignal): Promise<boolean> | true;
  release(lane: EmailLane): void;
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

type SlotWaiter = { lane: EmailLane; start: () => void };

export function createSlots(total: number): Slots {
  const held = new Map<EmailLane, number>();
  let waiting: SlotWaiter[] = [];
  let busy = 0;
  let given = 0;

  /**
   * Tells whether a lane may have a slot. The lane and all lower ones share a limit, which leaves slots for the
   * higher lanes.
   */
  function mayHave(lane: EmailLane): boolean {
    const place = emailLanes.indexOf(lane);
    const taken = emailLanes.slice(place).reduce((sum, one) => sum + (held.get(one) ?? 0), 0);
    return busy < total && taken < total - place * Math.floor(total / keptPart);
  }

  function hold(lane: EmailLane): void {
    busy += 1;
    held.set(lane, (held.get(lane) ?? 0) + 1);
  }

  function next(): SlotWaiter | undefined {
    const able = waiting.filter(({ lane }) => mayHave(lane));
    if (given % fairEvery === fairEvery - 1) return able[0];
    return emailLanes.flatMap((lane) => able.find((waiter) => waiter.lane === lane) ?? [])[0];
  }

  return {
    take: (lane, signal) => {
      if (waiting.length === 0 && mayHave(lane)) {
        hold(lane);
        return true;
      }
      return new Promise((resolve) => {
        const giveUp = (): void => {
          waiting = waiting.filter((one) => one !== waiter);
          resolve(false);
        };
        const waiter: SlotWaiter = {
          lane,
          start: () => {
            signal.removeEventListener('abort', giveUp);
            hold(lane);
            resolve(true);
          },
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.push(waiter);
        serve();
      });
    },
    release: (lane) => {
      busy -= 1;
      held.set(lane, (held.get(lane) ?? 1) - 1);
      serve();
    },
    busy: () => busy,
    waiting: () => waiting.length,
  };

  function serve(): void {
    for (;;) {
      const waiter = next();
      if (!waiter) return;
      given += 1;
      waiting = waiting.filter((one) => one !== waiter);
      waiter.start();
    }
  }
}
