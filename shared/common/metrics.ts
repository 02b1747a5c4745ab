/**
 * Counters of this process since its last report. Every few seconds each process adds its own counters to totals in
 * Redis. So one page shows the whole platform, and the numbers of a dead process are kept.
 */
const counters = new Map<string, number>();

/** Labels are part of the name, in Prometheus' own notation: `webhook_attempts{outcome="delivered"}`. */
export function count(name: string, labels: Record<string, string> = {}, by = 1): void {
  const entries = Object.entries(labels);
  const key =
    entries.length === 0
      ? name
      : `${name}{${entries.map(([label, value]) => `${label}="${value}"`).join(',')}}`;
  counters.set(key, (counters.get(key) ?? 0) + by);
}

/** Returns the counts since the last call, and starts again at nothing. */
export function takeCounts(): [name: string, by: number][] {
  const taken = [...counters];
  counters.clear();
  return taken;
}

const gauges = new Map<string, () => number>();

/** Registers a state of this process, which each report reads. */
export function gauge(name: string, read: () => number): void {
  gauges.set(name, read);
}

/** The values of this process's gauges now. */
export function readOwnGauges(): [name: string, value: number][] {
  return [...gauges].map(([name, read]) => [name, read()]);
}
