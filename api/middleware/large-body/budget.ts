import { gauge } from '../../../shared/common/metrics.ts';
import { config } from '../../../shared/config/config.ts';

/** The part of a budget that one body takes. It grows as more of the body comes. */
export type Reservation = {
  /** Sets the reservation to this size in all; returns false and changes nothing if the budget has too little. */
  grow: (bytes: number) => boolean;
  /** Sets it to this size even where the budget has too little: the bytes are there already. */
  hold: (bytes: number) => void;
  /** All of the body is here. */
  arrived: () => void;
  release: () => void;
};

type BudgetLimits = {
  bytes: number;
  /** Bodies of one owner that may be on their way at a time. */
  arriving: number;
};

/**
 * Opens a budget of bytes for bodies. A body that does not fit is refused at once, so that the bodies already here can
 * be finished.
 *
 * The first body of an owner may take all that is free. With its other bodies an owner may hold no more than what
 * stays free (dynamic thresholds, Choudhury and Hahne 1998): half of the budget when it is alone, a third beside
 * another owner that wants all. So some of it is always left for an owner that comes later.
 */
function openBudget(limits: () => BudgetLimits) {
  const owners = new Map<string, { bytes: number; arriving: number }>();
  let taken = 0;

  function mayTake(more: number, own: number, isOnly: boolean): boolean {
    const free = limits().bytes - taken - more;
    return free >= 0 && (isOnly || own + more <= free);
  }

  /** Opens a reservation; null if too many bodies of the owner are on their way. */
  function reserve(owner: string): Reservation | null {
    const share = owners.get(owner) ?? { bytes: 0, arriving: 0 };
    if (share.arriving >= limits().arriving) return null;
    owners.set(owner, share);
    share.arriving += 1;
    let held = 0;
    let hasArrived = false;
    let isOver = false;
    const add = (more: number) => {
      held += more;
      taken += more;
      share.bytes += more;
    };
    const arrived = () => {
      if (!hasArrived) share.arriving -= 1;
      hasArrived = true;
    };
    return {
      grow(size) {
        const more = size - held;
        if (more > 0 && !mayTake(more, share.bytes, share.bytes === held)) return false;
        add(more);
        return true;
      },
      hold: (size) => add(size - held),
      arrived,
      release() {
        if (isOver) return;
        isOver = true;
        add(-held);
        arrived();
        if (share.bytes === 0 && share.arriving === 0) owners.delete(owner);
      },
    };
  }

  return {
    reserve,
    /** Whether a body of that size would fit now. */
    hasFree: (owner: string, bytes: number): boolean => {
      const own = owners.get(owner)?.bytes ?? 0;
      return mayTake(bytes, own, own === 0);
    },
    takenBytes: () => taken,
  };
}

/** Large bodies of one workspace that may be on their way at a time. */
const mostUploads = 10;
const memoryBytes = 128 * 1024 * 1024;

/** For large bodies, until they have been dealt with. */
export const fileBudget = openBudget(() => ({ bytes: config.LARGE_BODIES_BYTES, arriving: mostUploads }));
/** For all other bodies while they arrive: many slow ones would otherwise take all of the memory. */
export const memoryBudget = openBudget(() => ({ bytes: memoryBytes, arriving: Number.POSITIVE_INFINITY }));

/** For large answers, until their clients have taken them. */
export const answerBudget = openBudget(() => ({
  bytes: config.LARGE_ANSWERS_BYTES,
  arriving: Number.POSITIVE_INFINITY,
}));

gauge('large_body_bytes', fileBudget.takenBytes);
