import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromNow } from '../../../common/clock.ts';
import { logger } from '../../../common/logger.ts';
import * as db from '../../../db/sms/inbound.system.ts';
import type { Acknowledgement, InboundPart } from '../../../transports/sms.ts';
import { writeOutcome } from '../../work/write-outcome.ts';

/**
 * Detects texts that a gateway sends again because our acknowledgement was lost with the line (the connection to
 * the gateway). On one line an equal text is another text. So equal texts of a line are numbered from 0.
 */

/**
 * A text that was kept and not answered comes again within this time, or never. So does a part of a text, answered or
 * not: if it comes again after the text was joined, it would become a text of its own.
 */
const againWithinMs = 3_600_000;
/**
 * The same for a text whose acknowledgement was sent, and possibly not read. Most gateways have read it, and then an equal
 * text is another one, so this time is short.
 */
const unreadAgainWithinMs = 600_000;
/** A line has fewer unanswered texts than this. */
const mostPlaces = 256;
const stopLimitMs = 1_000;

/** The places of each line's texts that wait for an answer. */
const takenOfLine = new WeakMap<object, Set<string>>();
/** Writes that no handler waits for. */
const writes = new Set<Promise<void>>();

/** Waits for the writes under way: a record that is left when the process stops could cost an equal text. */
export async function writesDone(): Promise<void> {
  await Promise.race([Promise.all(writes), sleep(stopLimitMs, undefined, { ref: false })]);
}

/** Writes once `before` is done, again and again until it succeeds. After `end` the write is of no more use. */
async function writeUntil(end: Date, before: Promise<void>, write: () => Promise<unknown>): Promise<void> {
  const written = before
    .then(() => writeOutcome(end, write))
    .then(
      () => undefined,
      (error) => logger.debug({ err: error }, 'the record of an answered text could not be changed'),
    );
  writes.add(written);
  await written;
  writes.delete(written);
}

type UnansweredText = {
  /** Must run in the transaction that stores the text; false where the text has come before. */
  isNew: (at: Date) => Promise<boolean>;
  /** Frees the text's place. Its gateway gets no acknowledgement. */
  leave: () => void;
  acknowledgement: Acknowledgement;
};

export function unansweredText(part: InboundPart, line: object): UnansweredText {
  const digest = createHash('sha256').update(JSON.stringify(part)).digest();
  const taken = takenOfLine.get(line) ?? new Set<string>();
  takenOfLine.set(line, taken);
  const nameOf = (place: number) => `${digest.toString('latin1')} ${place}`;
  let own: number | null = null;
  let writing: Promise<void> = Promise.resolve();

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
    throw new Error('Too many equal texts are unanswered');
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
    acknowledgement: {
      written() {
        const place = own;
        if (place === null || part.place) return;
        const end = fromNow(againWithinMs);
        writing = writeUntil(end, writing, () => db.deleteUnanswered(digest, place));
      },
      read() {
        // Not before the record is gone: without a place on this line, it would make an equal text a repetition.
        void writing.then(leave);
      },
      unread() {
        const place = own;
        if (place === null || part.place) return;
        const end = fromNow(unreadAgainWithinMs);
        const after = fromNow(-againWithinMs);
        const at = new Date(end.getTime() - againWithinMs);
        writing = writeUntil(end, writing, () => db.insertUnanswered(digest, place, { at, after }));
      },
    },
  };
}
