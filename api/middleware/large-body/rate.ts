import type { Readable } from 'node:stream';

/** At least this many bytes in each period of `withinMs`. */
export type Rate = { bytes: number; withinMs: number };

/**
 * Calls `onSlow` when fewer bytes have come in a period and the sender is the cause: we have not paused the request.
 * Returns the function that ends the watch.
 */
export function watchRate(
  request: Readable,
  { bytes, withinMs }: Rate,
  received: () => number,
  onSlow: () => void,
): () => void {
  let before = received();
  let wasPaused = false;
  let isOver = false;
  const notePause = () => {
    wasPaused = true;
  };
  const check = () => {
    if (isOver) return;
    const isSlow = received() - before < bytes;
    before = received();
    const isHeldUp = wasPaused;
    wasPaused = request.isPaused();
    if (isSlow && !isHeldUp) onSlow();
  };
  request.on('pause', notePause);
  // Bytes that came while the process was busy are read before the check.
  const timer = setInterval(() => setImmediate(check), withinMs);
  return () => {
    isOver = true;
    request.off('pause', notePause);
    clearInterval(timer);
  };
}
