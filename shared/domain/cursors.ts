import { createHash } from 'node:crypto';
import { invalid } from '../errors.ts';
import { authenticationTag, isAuthenticationTag } from '../secrets.ts';

/**
 * A cursor is opaque and tamper-evident, and only good for the workspace, the listing and the filter it was
 * made with: these are part of what its tag covers.
 */
export type CursorBinding = { workspaceId: string; listing: string; filter?: object };

export function encodeCursor(binding: CursorBinding, place: object): string {
  const payload = JSON.stringify(place);
  const tag = authenticationTag(purposeOf(binding), payload);
  return Buffer.concat([tag, Buffer.from(payload)]).toString('base64url');
}

/** Throws validation_failed on `cursor` for anything that `encodeCursor` did not make for this binding. */
export function decodeCursor<Place>(binding: CursorBinding, cursor: string): Place {
  const bytes = Buffer.from(cursor, 'base64url');
  const payload = bytes.subarray(16).toString('utf8');
  const isOurs =
    bytes.length > 16 &&
    bytes.toString('base64url') === cursor &&
    isAuthenticationTag(purposeOf(binding), payload, bytes.subarray(0, 16));
  if (!isOurs) throw invalid('cursor', 'is not a cursor of this listing with this filter');
  return JSON.parse(payload) as Place;
}

function purposeOf({ workspaceId, listing, filter }: CursorBinding): string {
  const filterHash = filter ? createHash('sha256').update(JSON.stringify(filter)).digest('base64url') : '';
  return `cursor ${workspaceId} ${listing} ${filterHash}`;
}
