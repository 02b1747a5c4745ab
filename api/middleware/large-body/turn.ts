type Owner = { waiting: (() => void)[]; running: number };

type TurnRequest = { owner: string; limitMs: number; refusal: () => Error };

/**
 * Turns at something that only a few may do at a time. They go round by owner, so that one who waits has as many before
 * it as there are owners, however many of theirs wait.
 */
export function openTurns({ atOnce, perOwner }: { atOnce: number; perOwner: number }) {
  const owners = new Map<string, Owner>();
  /** Owners that wait and may have another turn, in their order. */
  const ring = new Set<Owner>();
  let running = 0;

  /** Throws what `refusal` makes, having done nothing, when there is no turn within `limitMs`. */
  async function inTurn<T>({ owner: id, limitMs, refusal }: TurnRequest, work: () => Promise<T>): Promise<T> {
    const owner = owners.get(id) ?? { waiting: [], running: 0 };
    owners.set(id, owner);
    try {
      if (!(await turnOf(owner, limitMs))) throw refusal();
      try {
        return await work();
      } finally {
        running -= 1;
        owner.running -= 1;
        enterRing(owner);
        startNext();
      }
    } finally {
      if (owner.running === 0 && owner.waiting.length === 0) owners.delete(id);
    }
  }

  function turnOf(owner: Owner, limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const start = () => {
        clearTimeout(timer);
        running += 1;
        owner.running += 1;
        resolve(true);
      };
      const timer = setTimeout(() => {
        owner.waiting.splice(owner.waiting.indexOf(start), 1);
        if (owner.waiting.length === 0) ring.delete(owner);
        resolve(false);
      }, limitMs);
      owner.waiting.push(start);
      enterRing(owner);
      startNext();
    });
  }

  /** At its end: whoever came while the owner had its turn goes first. */
  function enterRing(owner: Owner): void {
    if (owner.waiting.length > 0 && owner.running < perOwner) ring.add(owner);
  }

  function startNext(): void {
    if (running >= atOnce) return;
    const [owner] = ring;
    if (!owner) return;
    ring.delete(owner);
    owner.waiting.shift()!();
    enterRing(owner);
    startNext();
  }

  return inTurn;
}
