/** Local times of the zones of the IANA database, as Node knows them. */

// By name in lower case, because names ignore case. All are kept: there are only 600, and each costs 28 kB to make again.
const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns the name of a zone in the case of the database; null when there is no such zone. A zone with several names
 * keeps the given name, as it is written: Node would say Asia/Calcutta for Asia/Kolkata. An offset such as +01:00 is
 * no zone.
 */
export function zoneNamed(text: string): string | null {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(text)) return null;
  try {
    const zone = formatOf(text).resolvedOptions().timeZone;
    return zone.toLowerCase() === text.toLowerCase() ? zone : text;
  } catch {
    return null;
  }
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const key = zone.toLowerCase();
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(key, format);
  }
  return format;
}

/** Returns the local time of the zone, in milliseconds as if it were UTC. */
function localMs(zone: string, time: number): number {
  const parts: Record<string, string> = {};
  for (const { type, value } of formatOf(zone).formatToParts(time)) parts[type] = value;
  const year = parts['era'] === 'BC' ? 1 - Number(parts['year']) : Number(parts['year']);
  const date = new Date(0);
  date.setUTCFullYear(year, Number(parts['month']) - 1, Number(parts['day']));
  date.setUTCHours(Number(parts['hour']), Number(parts['minute']), Number(parts['second']));
  return date.getTime();
}

const dayMs = 86_400_000;

/** Returns how far clocks of the zone are ahead of UTC, in milliseconds. */
export function offsetAt(zone: string, time: number): number {
  return localMs(zone, time) - Math.floor(time / 1000) * 1000;
}

/**
 * Returns the first time at which clocks of the zone show this local time, which is given as if it were UTC. For a
 * local time that the clocks skip, the offset before the skip counts.
 */
export function timeOfLocal(zone: string, local: number): number {
  const [before, after] = [offsetAt(zone, local - dayMs), offsetAt(zone, local + dayMs)];
  const shown = [local - before, local - after].filter((time) => localMs(zone, time) === local);
  return shown.length > 0 ? Math.min(...shown) : local - before;
}

/**
 * Returns the starts of the days or months of the zone, from the day or month of `from` to the first one at or after
 * `to`.
 */
export function startsBetween(zone: string, unit: 'day' | 'month', from: number, to: number): number[] {
  const date = new Date(Math.floor(localMs(zone, from) / dayMs) * dayMs);
  if (unit === 'month') date.setUTCDate(1);
  const starts: number[] = [];
  for (let start = timeOfLocal(zone, date.getTime()); ; start = timeOfLocal(zone, date.getTime())) {
    starts.push(start);
    if (start >= to) return starts;
    if (unit === 'month') date.setUTCMonth(date.getUTCMonth() + 1);
    else date.setUTCDate(date.getUTCDate() + 1);
  }
}
