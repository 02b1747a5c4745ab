/** Compiled sources by a key: as much as `largestLength` allows, the last used. */
export function openCompiled(largestLength: number) {
  // The first is the one not used for longest.
  const known = new Map<string, string | null>();
  let length = 0;
  const lengthOf = (html: string | null) => 100 + (html?.length ?? 0);

  return {
    /** Undefined: not known. */
    find(key: string): string | null | undefined {
      const html = known.get(key);
      if (html === undefined) return undefined;
      known.delete(key);
      known.set(key, html);
      return html;
    },

    keep(key: string, html: string | null): void {
      if (known.has(key)) return;
      known.set(key, html);
      length += lengthOf(html);
      for (const [oldest, old] of known) {
        if (length <= largestLength) break;
        known.delete(oldest);
        length -= lengthOf(old);
      }
    },
  };
}
