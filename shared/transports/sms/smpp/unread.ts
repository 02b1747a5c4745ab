import type { Acknowledgement } from '../gateway.ts';

type Unread = { place: number; isWritten: boolean; acknowledgement: Acknowledgement };

/** More messages than this wait for our acknowledgement at no carrier. */
const most = 50;

/**
 * Keeps the acknowledgements that the carrier may not have read yet. A connection that is cut without notice
 * swallows our writes, and no error tells of it. TCP keeps the order: a carrier that answers a request has read
 * all that was written before it.
 */
export function unreadAcknowledgements() {
  const list: Unread[] = [];
  let last = 0;

  function noteWritten(one: Unread): void {
    if (one.isWritten) return;
    one.isWritten = true;
    one.acknowledgement.written();
  }

  /** Notes that the carrier has read the acknowledgements up to this place. */
  function readUpTo(place: number): void {
    while (list[0] && list[0].place <= place) {
      const one = list.shift()!;
      // The answer to a later request may come before the report of our own write.
      noteWritten(one);
      one.acknowledgement.read();
    }
  }

  return {
    isEmpty: () => list.length === 0,
    /** The place of the newest acknowledgement. */
    last: () => last,
    readUpTo,
    /** Adds one that is about to be written; returns the action for when it is written. */
    add(acknowledgement: Acknowledgement): () => void {
      last += 1;
      const one = { place: last, isWritten: false, acknowledgement };
      list.push(one);
      readUpTo(last - most);
      return () => noteWritten(one);
    },
    /** Ends with the connection. */
    end(): void {
      for (const { isWritten, acknowledgement } of list.splice(0)) if (isWritten) acknowledgement.unread();
    },
  };
}
