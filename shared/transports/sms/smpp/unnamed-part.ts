/**
 * A carrier may give no id to a part, or one id to all parts of a text. This module makes a reference for such a
 * part, by which its row is known. No receipt can name it, because it has a space and ids have none.
 */

const prefix = 'unnamed ';

export const unnamedPart = (smsId: string, part: number): string => `${prefix}${smsId}-${part}`;

/** Tells whether a reference was made here. No receipt ever comes for such a part. */
export const isUnnamed = (reference: string): boolean => reference.startsWith(prefix);
