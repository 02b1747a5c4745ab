import { config } from '../../../shared/config.ts';
import { gauge } from '../../../shared/metrics.ts';

/** Room for one body among those that the process keeps in files. */
export type Reservation = {
  /** Makes it so large in all; false, changing nothing, where there is no room. */
  grow: (bytes: number) => boolean;
  release: () => void;
};

let taken = 0;
const takenBy = new Map<string, number>();
gauge('large_body_bytes', takenBytes);

/** `owner` has at most half of the room, so that one that sends slowly leaves some for the others; null: no room. */
export function reserve(owner: string, bytes: number): Reservation | null {
  let held = 0;
  function grow(size: number): boolean {
    const more = size - held;
    const own = takenBy.get(owner) ?? 0;
    const isAlone = own === held;
    if (taken + more > config.LARGE_BODIES_BYTES) return false;
    if (!isAlone && own + more > config.LARGE_BODIES_BYTES / 2) return false;
    add(more);
    return true;
  }
  function add(more: number): void {
    held += more;
    taken += more;
    const own = (takenBy.get(owner) ?? 0) + more;
    if (own > 0) takenBy.set(owner, own);
    else takenBy.delete(owner);
  }
  return grow(bytes) ? { grow, release: () => add(-held) } : null;
}

export function takenBytes(): number {
  return taken;
}
