/** An own sender, and the number at the other end. */
export type Pair = { number: string; sender: string };

type Text = { direction: 'inbound' | 'outbound'; sender: string; recipient: string };

/** Between whom a text is. */
export function pairOf({ direction, sender, recipient }: Text): Pair {
  return direction === 'inbound' ? { number: sender, sender: recipient } : { number: recipient, sender };
}
