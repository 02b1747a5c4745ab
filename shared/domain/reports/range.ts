import { now } from '../../common/clock.ts';
import type { FieldErrors } from '../../common/errors.ts';
import { Faults, isUnusable, throwAny, type Usable } from '../../common/faults.ts';
import { offsetAt, startsBetween, timeOfLocal } from '../../formats/time-zone.ts';
import type { ReportBound, ReportFilter, SendsFilter } from '../../schemas/reports.ts';
import { hourMs, hourOf } from './pieces.ts';

/** Turns the parameters of a report into the range and the intervals that are counted. */

const mostDays = 400;
const defaultDays = 30;
const mostDaysOfHours = 31;
const dayHours = 24;
const dayMs = dayHours * hourMs;

/** `start` and `end` are the times that were asked for; `from` and `to` are the hours that are counted, since 1970. */
export type ReportRange = {
  start: number;
  end: number;
  from: number;
  to: number;
  timeZone: string;
  timeZoneRounded: boolean;
};

/** The range of the query. Counts are kept by hour: a bound within one is rounded down. */
export function rangeOf(filter: ReportFilter): ReportRange {
  throwAny(faultsOf(filter));
  const { from, to, timeZone } = filter;
  const { start, end } = stretchOf(from, to, timeZone);
  const dates = [from, to].flatMap((bound) => (bound && 'date' in bound ? [timeOf(bound, timeZone)] : []));
  return { start, end, ...hoursOf(start, end), timeZone, timeZoneRounded: dates.some(isWithinHour) };
}

/**
 * Returns the faults for which `rangeOf` and `intervalsOf` would refuse a request. Skips parameters of the wrong shape.
 */
export function faultsOf(filter: Usable<ReportFilter | SendsFilter>): FieldErrors {
  const faults = new Faults();
  const { timeZone = 'UTC' } = filter;
  // A bound is either complete or absent.
  const [from, to] = [filter.from, filter.to] as (ReportBound | undefined)[];
  for (const [field, bound] of Object.entries({ from, to }))
    if (bound && timeOf(bound, timeZone) < 0) faults.refuse(field, 'must not be before 1970');
  if (
    faults.areAny ||
    isUnusable(filter, 'from') ||
    isUnusable(filter, 'to') ||
    isUnusable(filter, 'timeZone')
  )
    return faults.errors;
  const { start, end } = stretchOf(from, to, timeZone);
  const days = daysOf(start, end, isByDate(from, to) ? timeZone : 'UTC');
  if (start >= end)
    faults.refuse(from ? 'from' : 'to', from ? 'must be before to' : 'must be later than from');
  else if (days > mostDays)
    faults.refuse('from', `must be at most ${mostDays} days before to; ask for a shorter time`);
  if ('interval' in filter && filter.interval === 'hour' && days > mostDaysOfHours)
    faults.refuse('interval', `can be hour only for at most ${mostDaysOfHours} days; use day or month`);
  return faults.errors;
}

const isByDate = (...bounds: (ReportBound | undefined)[]) => bounds.some((bound) => bound && 'date' in bound);

/** Returns the length in days. Where clocks of the zone go back, its days are longer by as much. */
function daysOf(start: number, end: number, zone: string): number {
  const { from, to } = hoursOf(start, end);
  const longer = Math.max(0, offsetAt(zone, start) - offsetAt(zone, end));
  return (to - from - Math.ceil(longer / hourMs)) / dayHours;
}

function stretchOf(from: ReportBound | undefined, to: ReportBound | undefined, timeZone: string) {
  const end = to ? timeOf(to, timeZone) : (hourOf(now()) + 1) * hourMs;
  return { start: from ? timeOf(from, timeZone) : defaultStart(to, end, timeZone), end };
}

/** Returns the default start. If `to` is a date, so is the start: a clock change between them changes the hours. */
function defaultStart(to: ReportBound | undefined, end: number, timeZone: string): number {
  const ms = defaultDays * dayMs;
  return to && 'date' in to ? timeOfLocal(timeZone, to.date - ms) : end - ms;
}

const hoursOf = (start: number, end: number) => ({
  from: Math.floor(start / hourMs),
  to: Math.floor(end / hourMs),
});

function timeOf(bound: ReportBound, zone: string): number {
  return 'date' in bound ? timeOfLocal(zone, bound.date) : bound.time.getTime();
}

const isWithinHour = (time: number) => time % hourMs !== 0;

/** Checks the offset once a day: no zone changes its clocks and changes them back within a day. */
function isOffByPartOfHour(timeZone: string, start: number, end: number): boolean {
  for (let time = start; time < end; time += dayMs) if (isWithinHour(offsetAt(timeZone, time))) return true;
  return isWithinHour(offsetAt(timeZone, end));
}

/** `starts`: when each interval begins; `bounds`: the hours that they are counted by, with the end of the last. */
export type Intervals = { starts: number[]; bounds: number[]; range: ReportRange };

export function intervalsOf(filter: SendsFilter): Intervals {
  const range = rangeOf(filter);
  const { start, end, from, to, timeZone } = range;
  if (filter.interval === 'hour') {
    const hours = Array.from({ length: to - from }, (_, index) => from + index);
    return {
      starts: hours.map((hour) => hour * hourMs),
      bounds: [...hours, to],
      range: { ...range, timeZoneRounded: range.timeZoneRounded || isOffByPartOfHour(timeZone, start, end) },
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
