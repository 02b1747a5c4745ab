import { createHash } from 'node:crypto';
import { invalid } from '../../common/errors.ts';
import type { Refuse } from '../../common/faults.ts';
import { isAuthenticationTag, open, seal } from '../../common/secrets.ts';

/**
 * A cursor is encrypted and tamper-evident, and only good for the workspace, the listing and the filter it was made
 * with: these are part of what its tag covers. Its length is a multiple of some bytes, so that it does not tell how
 * large the numbers in it are.
 */
export type CursorBinding = { workspaceId: string; listing: string; filter?: object };

export function encodeCursor(binding: CursorBinding, place: object): string {
  const payload = JSON.stringify(place);
  const length = Math.ceil(payload.length / lengthStep) * lengthStep;
  return seal(purposeOf(binding), payload.padEnd(length)).toString('base64url');
}

/** Throws validation_failed on `cursor` for anything that `encodeCursor` did not make for this binding. */
export function decodeCursor<Place>(binding: CursorBinding, cursor: string): Place {
  const place = placeOf<Place>(binding, cursor);
  if (place === null) throw invalid('cursor', notOurs);
  return place;
}

/** Reads a cursor for a listing that reports other faults with it; null where there is no cursor, or after `refuse`. */
export function readCursor<Place>(
  binding: CursorBinding,
  cursor: string | undefined,
  refuse: Refuse,
): Place | null {
  if (!cursor) return null;
  const place = placeOf<Place>(binding, cursor);
  if (place === null) refuse('cursor', notOurs);
  return place;
}

const notOurs = 'must be the nextCursor of a page of this listing with the same filter';

function placeOf<Place>(binding: CursorBinding, cursor: string): Place | null {
  const bytes = Buffer.from(cursor, 'base64url');
  const opened = bytes.toString('base64url') === cursor ? openedBy(binding, bytes) : null;
  if (opened !== null) return JSON.parse(opened) as Place;
  // The previous version made cursors in this form, and may run beside this one during a deploy.
  const payload = bytes.subarray(16).toString('utf8');
  const isOurs =
    bytes.length > 16 &&
    bytes.toString('base64url') === cursor &&
    isAuthenticationTag(purposeOf(binding), payload, bytes.subarray(0, 16));
  return isOurs ? (JSON.parse(payload) as Place) : null;
}

const lengthStep = 48;

/** Opens a cursor. Null where it was not sealed for this binding. */
function openedBy(binding: CursorBinding, bytes: Buffer): string | null {
  try {
    return open(purposeOf(binding), bytes);
  } catch {
    return null;
  }
}

function purposeOf({ workspaceId, listing, filter }: CursorBinding): string {
  const filterHash = filter ? createHash('sha256').update(JSON.stringify(filter)).digest('base64url') : '';
  return `cursor ${workspaceId} ${listing} ${filterHash}`;
}
