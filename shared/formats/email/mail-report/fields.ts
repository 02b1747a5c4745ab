/** Fields by their name in lower case, each with its values in order. */
export type Fields = ReadonlyMap<string, readonly string[]>;

const maxGroups = 100;
const maxFields = 200;
const maxValueLength = 4000;

/**
 * Reads groups of header-like fields with empty lines between them (RFC 3464, RFC 5965). Skips a line that is no
 * field, and cuts everything that exceeds the limits above.
 */
export function fieldGroups(text: string): Fields[] {
  const groups: Map<string, string[]>[] = [];
  let group: Map<string, string[]> | null = null;
  let values: string[] | null = null;
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line.trim() === '') {
      group = null;
      values = null;
    } else if (/^[ \t]/.test(line)) {
      const last = values?.at(-1);
      if (values && last !== undefined && last.length < maxValueLength)
        values[values.length - 1] = `${last} ${line.trim()}`.slice(0, maxValueLength);
    } else {
      values = null;
      const [, name, value] = /^([!-9;-~]{1,100})[ \t]*:(.*)$/s.exec(line) ?? [];
      if (name === undefined || value === undefined) continue;
      if (!group) {
        if (groups.length === maxGroups) return groups;
        group = new Map();
        groups.push(group);
      }
      if (group.size >= maxFields) continue;
      values = group.get(name.toLowerCase()) ?? [];
      if (values.length < maxFields) values.push(value.trim().slice(0, maxValueLength));
      group.set(name.toLowerCase(), values);
    }
  }
  return groups;
}

export function firstOf(fields: Fields | undefined, name: string): string | null {
  return fields?.get(name)?.[0] ?? null;
}

/**
 * Returns the address of a field such as `rfc822; <ada@example.com>`: as it stands and, if different, decoded from
 * xtext (RFC 3461 §4).
 */
export function addressesOf(value: string): string[] {
  const address = value
    .replace(/^[\w-]+[ \t]*;/, '')
    .trim()
    .replace(/^<(.*)>$/, '$1');
  const decoded = address.replace(/\+([0-9A-F]{2})/g, (_code, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return [...new Set([address, decoded])].filter(
    (one) => one.length <= 320 && /^[^\s\p{Cc}@]+@[^\s\p{Cc}@]+$/u.test(one),
  );
}

/** Finds the addresses in a header field without parsing its grammar. */
export function mentionedIn(value: string): string[] {
  const words = value.slice(0, 10_000).split(/[\s<>(),;:"]+/);
  return words.filter((word) => word.length <= 320 && /^[^\p{Cc}@]+@[^\p{Cc}@]+$/u.test(word)).slice(0, 50);
}
