/** A sender of the workspace, and the number at the other end. */
export type Pair = { number: string; sender: string };

type TextEnds = { direction: 'inbound' | 'outbound'; sender: string; recipient: string };

/** Returns the two ends of a text, whatever its direction. */
export function pairOf({ direction, sender, recipient }: TextEnds): Pair {
  return direction === 'inbound' ? { number: sender, sender: recipient } : { number: recipient, sender };
}
