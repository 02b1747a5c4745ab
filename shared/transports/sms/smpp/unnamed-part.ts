/**
 * A carrier may give no id to what it takes, or one id to all parts of a text. A part without a name of its own
 * gets one here. Its row is known by that, and no receipt ever says it: it has a space, and ids have none.
 */

const prefix = 'unnamed ';

export const unnamedPart = (smsId: string, part: number): string => `${prefix}${smsId}-${part}`;

/** Of such a part nothing more is heard. */
export const isUnnamed = (reference: string): boolean => reference.startsWith(prefix);
