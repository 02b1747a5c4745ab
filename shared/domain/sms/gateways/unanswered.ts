import { createHash } from 'node:crypto';
import { logger } from '../../../common/logger.ts';
import * as db from '../../../db/sms/inbound.system.ts';
import type { InboundPart } from '../../../transports/sms.ts';

/**
 * Detects texts that a gateway sends again because our acknowledgement was lost with the line (the connection to
 * the gateway). On one line an equal text is another text. So equal texts of a line are numbered from 0.
 */

/** A text that was kept and not answered comes again within this time, or never. */
const againWithinMs = 3_600_000;
/** A line has fewer texts than this in hand. */
const mostPlaces = 256;

/** Of each line, the places that its texts in hand have taken. */
const inHand = new WeakMap<object, Set<string>>();

type UnansweredText = {
  /** Must run in the transaction that stores the text; false where the text has come before. */
  isNew: (at: Date) => Promise<boolean>;
  /** Frees the text's place: its gateway is not to be told. */
  leave: () => void;
  /** Removes the record of the text: its gateway has been told. */
  forget: () => Promise<void>;
};

export function unansweredText(part: InboundPart, line: object): UnansweredText {
  const digest = createHash('sha256').update(JSON.stringify(part)).digest();
  const taken = inHand.get(line) ?? new Set<string>();
  inHand.set(line, taken);
  const nameOf = (place: number) => `${digest.toString('latin1')} ${place}`;
  let own: number | null = null;

  function leave(): void {
    if (own !== null) taken.delete(nameOf(own));
    own = null;
  }

  /** Returns the place of an equal text that was stored for a line that is gone (`isThere`), or else a new place. */
  async function takePlace(after: Date): Promise<{ place: number; isThere: boolean }> {
    // A part of a text that equals a known one is never another part.
    if (part.place) return { place: 0, isThere: false };
    const before = new Set(taken);
    const stored = await db.listUnansweredPlaces(digest, after);
    const isOurs = (place: number) => before.has(nameOf(place)) || taken.has(nameOf(place));
    const left = stored.find((place) => !isOurs(place));
    if (left !== undefined) return { place: left, isThere: true };
    for (let place = 0; place < mostPlaces; place += 1) if (!isOurs(place)) return { place, isThere: false };
    throw new Error('Too many texts that say the same are in hand');
  }

  return {
    async isNew(at) {
      // A transaction may run more than once.
      leave();
      const after = new Date(at.getTime() - againWithinMs);
      const { place, isThere } = await takePlace(after);
      own = place;
      taken.add(nameOf(place));
      return !isThere && db.insertUnanswered(digest, place, { at, after });
    },
    leave,
    async forget() {
      if (own === null) return;
      try {
        await db.deleteUnanswered(digest, own);
        leave();
      } catch (error) {
        logger.debug({ err: error }, 'an answered text could not be forgotten; it is in an hour');
      }
    },
  };
}
