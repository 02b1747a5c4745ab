/** The reference of one part of a long text. The reference of the whole has no space. */
export const partReference = (reference: string, part: number) => `${reference} ${part}`;

/** Returns the reference of the whole text from the reference of its first part; null for any other reference. */
export function wholeOfFirstPart(reference: string): string | null {
  return reference.endsWith(' 1') ? reference.slice(0, -2) : null;
}
