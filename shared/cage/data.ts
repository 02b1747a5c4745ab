const largest = { length: 1024 * 1024, levels: 64 };

/**
 * JSON text of a template's data, or what is wrong with it. Looks at the size first: writing 40 MB of JSON would hold
 * up the whole process, and reading it could take a thread's memory.
 */
export function encodeData(data: Record<string, unknown>): { json: string } | { fault: string } {
  let length = 0;
  let fault: string | undefined;
  function fits(value: unknown, level: number): boolean {
    if (level > largest.levels) fault = `is nested more than ${largest.levels} levels`;
    length += typeof value === 'string' ? value.length + 3 : 6;
    if (length > largest.length) fault ??= 'is larger than 1 MiB';
    if (fault) return false;
    if (typeof value !== 'object' || value === null) return true;
    if (Array.isArray(value)) return value.every((item) => fits(item, level + 1));
    for (const name in value) {
      length += name.length + 3;
      if (!fits((value as Record<string, unknown>)[name], level + 1)) return false;
    }
    return true;
  }
  return fits(data, 1) ? { json: JSON.stringify(data) } : { fault: fault ?? '' };
}
