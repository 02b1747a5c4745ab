import { z } from 'zod';

/**
 * A string of a request that is too long to be held in memory. `read` yields it in pieces of UTF-8, from its start
 * each time; each piece overwrites the one before.
 */
export class LargeText {
  readonly read: () => AsyncIterable<Buffer>;
  constructor(read: () => AsyncIterable<Buffer>) {
    this.read = read;
  }
}

/** A string that an operation reads piece by piece where it is long (`largeTexts` of the operation names the field). */
export const LargeString = z
  .custom<string | LargeText>((value) => typeof value === 'string' || value instanceof LargeText, {
    error: ({ input }) =>
      input === undefined ? undefined : input === null ? 'must not be null' : 'must be a string',
  })
  .meta({ override: { type: 'string' } });
