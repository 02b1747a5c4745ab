import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Piece } from '../../../shared/db/reports/counts.ts';
import { endOf, piecesOf, piecesWithin, startOf } from '../../../shared/domain/reports/pieces.ts';

const year = { from: Date.UTC(2024, 0, 1) / 3_600_000, hours: 366 * 24 };
const hour = fc.integer({ min: year.from, max: year.from + year.hours });
/** Hours, often at the start of a UTC day or at an hour where a day of another time zone starts. */
const bound = fc.oneof(
  hour,
  hour.map((one) => startOf('day', one)),
  hour.map((one) => startOf('month', one) + 5),
);

type Row = { from: number; to: number };

/** Returns the rows of a piece, each with its first hour and its end. */
function rowsOf({ span, from, to }: Piece): Row[] {
  const rows: Row[] = [];
  for (let start = from; start < to; start = endOf(span, start))
    rows.push({ from: start, to: endOf(span, start) });
  expect([startOf(span, from), rows.at(-1)?.to]).toEqual([from, to]);
  return rows;
}

/** Returns how often each hour of a stretch is in these rows; rows may reach a month beyond the year. */
function timesOf(added: Row[], taken: Row[] = []): (from: number, to: number) => number[] {
  const margin = 31 * 24;
  const times = new Int16Array(year.hours + 2 * margin);
  const at = (hourAt: number) => hourAt - year.from + margin;
  for (const { from, to } of added) for (let one = from; one < to; one += 1) times[at(one)]! += 1;
  for (const { from, to } of taken) for (let one = from; one < to; one += 1) times[at(one)]! -= 1;
  return (from, to) => {
    const inside = new Set(times.subarray(at(from), at(to)));
    const outside = new Set([...times.subarray(0, at(from)), ...times.subarray(at(to))]);
    return [...inside, ...outside];
  };
}

test('pieces come to each hour of a stretch once, from no row twice, and a year anywhere from at most 80 rows', () => {
  fc.assert(
    fc.property(bound, bound, (one, other) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      const { added, taken } = piecesOf(from, to);
      const [plus, minus] = [added.flatMap(rowsOf), taken.flatMap(rowsOf)];
      expect(timesOf(plus, minus)(from, to)).toEqual(from < to ? [1, 0] : [0]);
      expect(plus.length + minus.length).toBeLessThanOrEqual(80);
      const names = [...added, ...taken].flatMap((piece) =>
        rowsOf(piece).map((row) => `${piece.span} ${row.from}`),
      );
      expect(new Set(names).size).toBe(names.length);
    }),
    { numRuns: 300 },
  );
});

test('a year of a zone with an offset is twelve months, with the hours of the offset taken off and added', () => {
  const [from, to] = [Date.UTC(2024, 0, 1, 5), Date.UTC(2025, 0, 1, 5)].map((time) => time / 3_600_000);
  expect(piecesOf(from!, to!)).toEqual({
    added: [
      { span: 'month', from: from! - 5, to: to! - 5 },
      { span: 'hour', from: to! - 5, to: to! },
    ],
    taken: [{ span: 'hour', from: from! - 5, to: from! }],
  });
});

test('of stretches that follow one another, each row lies within one', () => {
  fc.assert(
    fc.property(fc.array(bound, { minLength: 2, maxLength: 20 }), (some) => {
      const bounds = [...new Set(some)].toSorted((one, other) => one - other);
      const pieces = piecesWithin(bounds);
      const rows = pieces.flatMap(rowsOf);
      if (bounds.length > 1) expect(timesOf(rows)(bounds[0]!, bounds.at(-1)!)).toEqual([1, 0]);
      const stretchOf = (at: number) => bounds.findLastIndex((start) => start <= at);
      expect(rows.filter(({ from, to }) => stretchOf(from) !== stretchOf(to - 1))).toEqual([]);
    }),
    { numRuns: 100 },
  );
});
