import type { Piece, Span } from '../../db/report-counts.ts';

/** Hours count from 1970, in UTC. */
export const hourMs = 3_600_000;

export const hourOf = (time: Date): number => Math.floor(time.getTime() / hourMs);
export const timeOf = (hour: number): Date => new Date(hour * hourMs);

/** The first hour of the day or month that an hour is in. */
export function startOf(span: Span, hour: number): number {
  if (span === 'hour') return hour;
  if (span === 'day') return hour - (((hour % 24) + 24) % 24);
  const time = timeOf(hour);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), 1) / hourMs;
}

/** The first hour after it. */
export function endOf(span: Span, start: number): number {
  if (span === 'hour') return start + 1;
  if (span === 'day') return start + 24;
  const time = timeOf(start);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1) / hourMs;
}

/** The first start of a span at or after an hour. */
function firstFrom(span: Span, hour: number): number {
  const start = startOf(span, hour);
  return start === hour ? hour : endOf(span, start);
}

/** A stretch of time by the fewest rows that make it up: whole months, the days before and after them, the hours beside. */
export function piecesOf(from: number, to: number): Piece[] {
  const pieces = (['month', 'day', 'hour'] as const).reduce<{ done: Piece[]; open: [number, number][] }>(
    ({ done, open }, span) => {
      const rest: [number, number][] = [];
      for (const [start, end] of open) {
        const inner = { from: firstFrom(span, start), to: startOf(span, end) };
        if (inner.from >= inner.to) rest.push([start, end]);
        else {
          done.push({ span, ...inner });
          rest.push([start, inner.from], [inner.to, end]);
        }
      }
      return { done, open: rest.filter(([start, end]) => start < end) };
    },
    { done: [], open: [[from, to]] },
  );
  return pieces.done.toSorted((one, other) => one.from - other.from);
}
