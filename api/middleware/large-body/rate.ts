/** At least so many bytes in each such time. */
export type Rate = { bytes: number; withinMs: number };

type BodyProgress = {
  received: () => number;
  /** Whether the sender has been kept waiting since this was asked last. */
  wasHeldUp: () => boolean;
};

/** Calls `onSlow` when less has come, and it was the sender's doing. Returns how to stop it. */
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
