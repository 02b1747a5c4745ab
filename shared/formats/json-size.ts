/**
 * Returns the fault in the size of a value that is to be written as JSON, as the end of a sentence; null when there
 * is none. `length` counts characters approximately. Stops at the first fault.
 */
export function jsonFault(value: unknown, most: { length: number; levels: number }): string | null {
  let length = 0;
  let fault: string | null = null;
  function fits(part: unknown, level: number): boolean {
    if (level > most.levels) fault = `is nested more than ${most.levels} levels`;
    length += typeof part === 'string' ? part.length + 3 : 6;
    if (length > most.length) fault ??= `is larger than ${most.length / 1024 / 1024} MiB`;
    if (fault) return false;
    if (typeof part !== 'object' || part === null) return true;
    if (Array.isArray(part)) return part.every((item) => fits(item, level + 1));
    for (const name in part) {
      length += name.length + 3;
      if (!fits((part as Record<string, unknown>)[name], level + 1)) return false;
    }
    return true;
  }
  fits(value, 1);
  return fault;
}
