import type { Piece, Selection, Span, Starts } from '../../db/reports/counts.ts';

/** Splits time ranges into hours, days and months, because counts are stored for these. */

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

/** Returns the first hour after a span. */
export function endOf(span: Span, start: number): number {
  if (span === 'hour') return start + 1;
  if (span === 'day') return start + 24;
  const time = timeOf(start);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1) / hourMs;
}

type Pieces = { added: Piece[]; taken: Piece[] };

const spans = ['month', 'day', 'hour'] as const;

/**
 * Covers a time range with the fewest rows: whole months, and days and hours beside them. Where it needs fewer rows, a
 * longer span is added and its surplus days or hours are subtracted. Example: a month in New York is a month in UTC,
 * except for five hours.
 */
export function piecesOf(from: number, to: number): Pieces {
  const inOrder = (pieces: Piece[]) => pieces.toSorted((one, other) => one.from - other.from);
  const { added, taken } = cover(spans, from, to);
  return { added: inOrder(added), taken: inOrder(taken) };
}

/** Returns the same pieces as lists of row starts, as a report reads them. */
export function selectionOf(from: number, to: number): Selection {
  const { added, taken } = piecesOf(from, to);
  return { added: added.map(startsIn), taken: taken.map(startsIn) };
}

function startsIn({ span, from, to }: Piece): Starts {
  const starts: number[] = [];
  for (let start = from; start < to; start = endOf(span, start)) starts.push(start);
  return { span, starts };
}

function cover([span, ...finer]: readonly Span[], from: number, to: number): Pieces {
  const whole = (start: number, end: number): Piece[] =>
    start < end ? [{ span: span!, from: start, to: end }] : [];
  if (finer.length === 0) return { added: whole(from, to), taken: [] };
  const ways = [cover(finer, from, to)];
  for (const start of bothSides(span!, from))
    for (const end of bothSides(span!, to)) {
      if (start >= end) continue;
      const [before, after] = [between(finer, start, from), between(finer, to, end)];
      ways.push({
        added: [...whole(start, end), ...before.taken, ...after.taken],
        taken: [...before.added, ...after.added],
      });
    }
  return ways.reduce((best, way) => (rowsOf(way) < rowsOf(best) ? way : best));
}

/** Covers the range between two hours; a range that runs backwards is subtracted. */
function between(finer: readonly Span[], start: number, end: number): Pieces {
  const { added, taken } = cover(finer, Math.min(start, end), Math.max(start, end));
  return start <= end ? { added, taken } : { added: taken, taken: added };
}

/** Returns the starts of a span before and after an hour, or the hour itself if a span starts there. */
function bothSides(span: Span, hour: number): number[] {
  const start = startOf(span, hour);
  return start === hour ? [hour] : [start, endOf(span, start)];
}

const hoursOf: Record<Span, number> = { hour: 1, day: 24, month: 720 };

const rowsOf = ({ added, taken }: Pieces): number =>
  [...added, ...taken].reduce((rows, { span, from, to }) => rows + (to - from) / hoursOf[span], 0);

/** Covers ranges that follow one another with rows, each of which lies within one range. */
export function piecesWithin(bounds: readonly number[]): Piece[] {
  const pieces: Piece[] = [];
  for (const [index, to] of bounds.entries())
    for (const piece of index === 0 ? [] : wholePieces(spans, bounds[index - 1]!, to)) {
      const last = pieces.at(-1);
      if (last?.span === piece.span && last.to === piece.from) last.to = piece.to;
      else pieces.push(piece);
    }
  return pieces;
}

/** Returns the pieces in the order of time. */
function wholePieces([span, ...finer]: readonly Span[], from: number, to: number): Piece[] {
  if (from >= to) return [];
  const [start, end] = [bothSides(span!, from).at(-1)!, startOf(span!, to)];
  if (start >= end) return wholePieces(finer, from, to);
  return [
    ...wholePieces(finer, from, start),
    { span: span!, from: start, to: end },
    ...wholePieces(finer, end, to),
  ];
}
