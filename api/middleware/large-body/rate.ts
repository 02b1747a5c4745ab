/** At least this many bytes in each period of `withinMs`. */
export type Rate = { bytes: number; withinMs: number };

type BodyProgress = {
  received: () => number;
  /** Whether we have kept the sender waiting since the last call. */
  wasHeldUp: () => boolean;
};

/** Calls `onSlow` when fewer bytes have come and the sender is the cause. Returns the function that ends the watch. */
export function watchRate(
  { bytes, withinMs }: Rate,
  { received, wasHeldUp }: BodyProgress,
  onSlow: () => void,
): () => void {
  let before = received();
  let isOver = false;
  const check = () => {
    if (isOver) return;
    const now = received();
    const isSlow = now - before < bytes;
    before = now;
    if (!wasHeldUp() && isSlow) onSlow();
  };
  // Bytes that came while the process was busy are read before the check.
  const timer = setInterval(() => setImmediate(check), withinMs);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
