import { filters as builtIn, type Context, type Liquid, toValue } from 'liquidjs';
import { LimitError, refuseHeavy } from './liquid-limits.ts';
import { strftime, utc, type Zone, zoneAt } from './strftime.ts';

export type FilterThis = { context: Context; token: unknown; liquid: Liquid };
type FilterHandler = (this: FilterThis, value: unknown, ...args: unknown[]) => unknown;

const handlerOf = (name: string): FilterHandler => {
  const filter = builtIn[name];
  if (typeof filter !== 'function') throw new Error(`liquidjs has no plain filter ${name}`);
  return filter as FilterHandler;
};

/**
 * Filters that templates may not use. An `_exp` filter evaluates its expression between two checks of the clock;
 * `sample` would render other bytes at every attempt.
 */
export const removedFilters = new Set([
  ...Object.keys(builtIn).filter((name) => name.endsWith('_exp')),
  'sample',
]);

/** The name under which the clock travels in a render's registers, out of reach of templates. */
export const clockRegister = 'now';

const longestMoment = 100;
const defaultDateFormat = '%A, %B %-e, %Y at %-l:%M %P %z';

/** A number is seconds since 1970, as in liquidjs; undefined when it names no moment. */
function momentOf(context: Context, given: unknown): Date | undefined {
  if (given === 'now' || given === 'today') return context.getRegister<Date>(clockRegister);
  if (typeof given !== 'number' && typeof given !== 'string') return undefined;
  // V8 reads dates of any length, and takes a second for a megabyte.
  if (typeof given === 'string' && given.length > longestMoment) return undefined;
  const seconds = typeof given === 'number' || /^\d+$/.test(given) ? Number(given) : undefined;
  const moment = new Date(seconds === undefined ? given : seconds * 1000);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}

/** A name, or minutes behind UTC as JavaScript counts them. */
function zoneOf(moment: Date, given: unknown): Zone {
  if (given === undefined || given === null) return utc;
  if (typeof given === 'string') return zoneAt(moment, given);
  const offsetMinutes = -Math.trunc(Number(given));
  if (!(Math.abs(offsetMinutes) < 1440)) throw new LimitError('unknown time zone');
  return { name: strftime(moment, '%z', { name: '', offsetMinutes }), offsetMinutes };
}

// liquidjs asks Intl for names and zones. This takes 28 kB a date that no limit counts, and depends on the host's
// zone and locale.
const date: FilterHandler = function (value, format, zone) {
  const moment = momentOf(this.context, toValue(value));
  if (!moment) return value;
  const pattern: unknown = toValue(format);
  return strftime(
    moment,
    typeof pattern === 'string' ? pattern : defaultDateFormat,
    zoneOf(moment, toValue(zone)),
  );
};

const dateAs = (formatOf: (type: unknown, style: unknown) => string): FilterHandler =>
  function (value, type, style) {
    const moment = momentOf(this.context, toValue(value));
    return moment ? strftime(moment, formatOf(toValue(type), toValue(style))) : value;
  };

const dayFormat = (month: string) => (type: unknown, style: unknown) => {
  if (type !== 'ordinal') return `%d ${month} %Y`;
  return style === 'US' ? `${month} %-d%q, %Y` : `%-d%q ${month} %Y`;
};

// JSON.stringify's third argument would multiply the size of what is deeply nested.
const withoutSpace = (handler: FilterHandler): FilterHandler =>
  function (value) {
    return handler.call(this, value);
  };

const replaced: Record<string, FilterHandler> = {
  date,
  date_to_xmlschema: dateAs(() => '%Y-%m-%dT%H:%M:%S%:z'),
  date_to_rfc822: dateAs(() => '%a, %d %b %Y %H:%M:%S %z'),
  date_to_string: dateAs(dayFormat('%b')),
  date_to_long_string: dateAs(dayFormat('%B')),
  json: withoutSpace(handlerOf('json')),
  jsonify: withoutSpace(handlerOf('jsonify')),
  inspect: withoutSpace(handlerOf('inspect')),
};

const isGenerator = (value: unknown): value is Generator<unknown, unknown> =>
  typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function';

function* boundedLater(result: Generator<unknown, unknown>, context: Context): Generator<unknown, unknown> {
  const value: unknown = yield result;
  context.renderLimit.check(performance.now());
  return refuseHeavy(value);
}

function bounded(handler: FilterHandler): FilterHandler {
  return function (...args) {
    const result = handler.apply(this, args);
    if (isGenerator(result)) return boundedLater(result, this.context);
    if (typeof result !== 'string') this.context.renderLimit.check(performance.now());
    return refuseHeavy(result);
  };
}

/** Replaces the filters that liquidjs registered, whether the engine escapes or not. */
export function registerFilters(engine: Liquid): void {
  for (const name of removedFilters) engine.unregisterFilter(name);
  for (const name of Object.keys(builtIn)) {
    if (name === 'raw' || removedFilters.has(name)) continue;
    engine.registerFilter(name, bounded(replaced[name] ?? handlerOf(name)));
  }
}
