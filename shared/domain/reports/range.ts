import { now } from '../../clock.ts';
import { invalid } from '../../errors.ts';
import { offsetAt, startsBetween, timeOfLocal } from '../../formats/time-zone.ts';
import type { ReportBound, ReportFilter, SendsFilter } from '../../schemas/reports.ts';
import { hourMs, hourOf } from './pieces.ts';

const mostDays = 400;
const defaultDays = 30;
const mostDaysOfHours = 31;
const dayHours = 24;

/** `start` and `end` are those that were asked for, `from` and `to` the hours that are counted, which count from 1970. */
export type Range = {
  start: number;
  end: number;
  from: number;
  to: number;
  timeZone: string;
  timeZoneRounded: boolean;
};

/** The range of the query. Counts are kept by hour: a bound within one is rounded down. */
export function rangeOf({ from, to, timeZone }: ReportFilter): Range {
  const end = to ? timeOf(to, timeZone) : (hourOf(now()) + 1) * hourMs;
  const start = from ? timeOf(from, timeZone) : end - defaultDays * dayHours * hourMs;
  const hours = { from: Math.floor(start / hourMs), to: Math.floor(end / hourMs) };
  for (const [field, bound, time] of [
    ['from', from, start],
    ['to', to, end],
  ] as const)
    if (bound && time < 0) throw invalid(field, 'must not be before 1970');
  if (start >= end) throw invalid(from ? 'from' : 'to', 'must be before to');
  // A clock that goes back makes a stretch of so many days an hour longer.
  if (hours.to - hours.from > mostDays * dayHours + 1)
    throw invalid('from', `must be at most ${mostDays} days before to`);
  const dates = [from, to].flatMap((bound) => (bound && 'date' in bound ? [timeOf(bound, timeZone)] : []));
  return { start, end, ...hours, timeZone, timeZoneRounded: dates.some(isWithinHour) };
}

function timeOf(bound: ReportBound, zone: string): number {
  return 'date' in bound ? timeOfLocal(zone, bound.date) : bound.time.getTime();
}

const isWithinHour = (time: number) => time % hourMs !== 0;

/** `starts`: when each interval begins; `bounds`: the hours that they are counted by, with the end of the last. */
export type Intervals = { starts: number[]; bounds: number[]; range: Range };

export function intervalsOf(filter: SendsFilter): Intervals {
  const range = rangeOf(filter);
  const { start, end, from, to, timeZone } = range;
  if (filter.interval === 'hour') {
    if (to - from > mostDaysOfHours * dayHours + 1)
      throw invalid('interval', `can be hour for at most ${mostDaysOfHours} days`);
    const hours = Array.from({ length: to - from }, (_, index) => from + index);
    return {
      starts: hours.map((hour) => hour * hourMs),
      bounds: [...hours, to],
      range: { ...range, timeZoneRounded: isWithinHour(offsetAt(timeZone, from * hourMs)) },
    };
  }
  const all = startsBetween(timeZone, filter.interval, start, end);
  const starts = all.slice(0, -1);
  return {
    starts,
    bounds: [from, ...starts.slice(1).map((time) => Math.floor(time / hourMs)), to],
    range: { ...range, timeZoneRounded: range.timeZoneRounded || all.slice(1, -1).some(isWithinHour) },
  };
}
