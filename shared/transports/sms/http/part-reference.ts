/** The reference of one part of a long text. The reference of the whole has no space. */
export const partReference = (reference: string, part: number) => `${reference} ${part}`;

/** The reference of the whole, of its first part; null of all else. */
export function wholeOfFirstPart(reference: string): string | null {
  return reference.endsWith(' 1') ? reference.slice(0, -2) : null;
}
