import type { Evidence, Finding, Invariant } from '../types.ts';

/** Collects the findings of one check, grouped by their text. */
export function collect(invariant: Invariant) {
  const found = new Map<string, string[]>();
  return {
    add(text: string, id: string): void {
      const ids = found.get(text);
      if (ids) ids.push(id);
      else found.set(text, [id]);
    },
    list: (): Finding[] =>
      [...found].map(([text, ids]) => ({
        invariant,
        text: `${text} (${ids.length})`,
        ids: ids.slice(0, 50),
      })),
  };
}

export type Collected = ReturnType<typeof collect>;

/** Adds the answers of these operations that no caller should get. */
export function addOdd({ ledger }: Evidence, findings: Collected, operations: readonly string[]): void {
  for (const { operation, text } of ledger.oddAnswers)
    if (operations.includes(operation)) findings.add(`an answer that should not be: ${operation}`, text);
}
