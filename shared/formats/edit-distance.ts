export type Measured = { text: string; edits: number };

/**
 * Returns how many letters must be changed, added or removed to turn one text into the other (Levenshtein). Returns
 * Infinity for more than `most`.
 */
function editDistance(one: string, other: string, most = Infinity): number {
  if (Math.abs(one.length - other.length) > most) return Infinity;
  let before = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one.charCodeAt(row - 1) === other.charCodeAt(column - 1);
      const edits = Math.min(
        before[column]! + 1,
        current[column - 1]! + 1,
        before[column - 1]! + (isSame ? 0 : 1),
      );
      current.push(edits);
      least = Math.min(least, edits);
    }
    if (least > most) return Infinity;
    before = current;
  }
  const edits = before[other.length]!;
  return edits > most ? Infinity : edits;
}

// A longer text is no mistyped word.
const longestCompared = 64;

/**
 * Lists the allowed values as the end of a sentence, such as "one of box, tube". The values that are nearest to the
 * given word come first.
 */
export function oneOf(values: readonly unknown[], given: unknown): string {
  const texts = values.map(String);
  if (texts.length === 1) return texts[0]!;
  if (typeof given !== 'string') return `one of ${texts.join(', ')}`;
  const sorted = nearest(given.slice(0, longestCompared), texts).map(({ text }) => text);
  return `one of ${sorted.join(', ')}`;
}

/**
 * Returns the texts that are at most `most` edits away, the nearest first. Texts at the same distance keep their
 * order.
 */
export function nearest(text: string, texts: readonly string[], most = Infinity): Measured[] {
  return texts
    .map((one) => ({ text: one, edits: editDistance(text, one, most) }))
    .filter(({ edits }) => edits !== Infinity)
    .toSorted((one, other) => one.edits - other.edits);
}
