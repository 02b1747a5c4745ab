import { LRUCache } from 'lru-cache';

/**
 * How many slots an owner may hold beside others. Nobody knows beforehand how long work will take. So an owner has a
 * share of what the others leave, and a much smaller one until its work has proved to be quick: however many owners
 * hang, they leave slots to those that do not.
 */

/** An owner holds this part of the slots at most. The other slots are for others, if its work hangs all at once. */
const partOfQuick = 5 / 6;
const partOfUnproven = 1 / 3;
/**
 * Of this many slots one is reserved, and two at most. An owner that holds slots already gets none of the last free ones
 * up to this number, and owners that are not known to be quick leave this number free.
 */
const reservedEvery = 8;
const mostReserved = 2;
/** A relay or a carrier under load may take some seconds for each message. Work that hangs takes much longer. */
const quickMs = 5_000;
const mostQuick = 20_000;

/**
 * Returns a share of `most`: the part that the others leave, or its square for an owner that is not known to be quick.
 */
export function shareOf(most: number, partLeft: number, isQuick: boolean): number {
  return most * partLeft ** (isQuick ? 1 : 2);
}

/** Returns how many of the slots an owner may hold while all others together hold `others`. */
export function mostBeside(others: number, slots: number): number {
  return Math.max(1, Math.floor(shareOf(partOfQuick * slots, partLeft(others, slots), true)));
}

const partLeft = (others: number, slots: number) => Math.max(0, slots - others) / slots;

/**
 * Makes the shares of owners of whom any may hang. An owner is quick if its last work was, and none of it is open for
 * long. The others have small shares.
 */
export function createFairShares() {
  /** The start of each owner's work that is open, oldest first. */
  const open = new Map<string, Set<{ at: number }>>();
  const quick = new LRUCache<string, true>({ max: mostQuick });

  function isQuick(owner: string): boolean {
    const [oldest] = open.get(owner) ?? [];
    return quick.has(owner) && (oldest === undefined || performance.now() - oldest.at < quickMs);
  }

  return {
    isQuick,
    /** Returns how many of the slots the owner may hold. `others`: the owner of each slot that another one holds. */
    mostBeside(owner: string, others: readonly string[], slots: number): number {
      const reserved = Math.min(mostReserved, Math.floor(slots / reservedEvery));
      // The work of several quick owners may begin to hang at once. Each of them takes one of the reserved slots at most.
      if (isQuick(owner))
        return Math.max(1, Math.min(mostBeside(others.length, slots), slots - reserved - others.length));
      const share = Math.floor(shareOf(partOfUnproven * slots, partLeft(others.length, slots), false));
      // The slots of quick owners come free soon. If they counted here, quick work that never ends would keep an owner
      // without proof from ever getting its first slot.
      const mayHang = others.filter((other) => !isQuick(other)).length;
      return Math.min(Math.max(1, share), slots - reserved - mayHang);
    },
    /**
     * Notes that an owner has got a slot. The function that it returns notes that the slot is free again. `isProof`:
     * the work was done, so its time tells how long such work takes. Work that failed at once tells nothing.
     */
    begin(owner: string): (isProof: boolean) => void {
      const work = { at: performance.now() };
      const own = open.get(owner) ?? new Set();
      open.set(owner, own.add(work));
      return (isProof) => {
        if (!own.delete(work)) return;
        if (own.size === 0 && open.get(owner) === own) open.delete(owner);
        if (performance.now() - work.at >= quickMs) quick.delete(owner);
        else if (isProof) quick.set(owner, true);
      };
    },
  };
}
