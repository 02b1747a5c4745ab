import { filters as builtIn, type Context, type Liquid, toValue } from 'liquidjs';
import { LimitError, refuseHeavy } from './liquid-limits.ts';

export type FilterThis = { context: Context; token: unknown; liquid: Liquid };
type Handler = (this: FilterThis, value: unknown, ...args: unknown[]) => unknown;

const handlerOf = (name: string): Handler => {
  const filter = builtIn[name];
  if (typeof filter !== 'function') throw new Error(`liquidjs has no plain filter ${name}`);
  return filter as Handler;
};

/** Evaluates its expression between two looks at the clock; `sample` would render other bytes at every attempt. */
export const removedFilters = new Set([
  ...Object.keys(builtIn).filter((name) => name.endsWith('_exp')),
  'sample',
]);

/** The name under which the clock travels in a render's registers, out of reach of templates. */
export const clockRegister = 'now';

// The C locale's forms: liquidjs asks the host's locale, which differs from machine to machine.
const localForms: Record<string, string> = { c: '%a %b %e %H:%M:%S %Y', x: '%m/%d/%y', X: '%H:%M:%S' };
const conversion = /%[-_0^#:]*\d*[EO]?([cxX])|%%/g;

function withClock(handler: Handler): Handler {
  return function (value, format, ...rest) {
    const given = toValue(value);
    const moment = given === 'now' || given === 'today' ? this.context.getRegister(clockRegister) : given;
    const steady =
      typeof format === 'string'
        ? format.replace(conversion, (found, letter?: string) => (letter && localForms[letter]) ?? found)
        : format;
    return handler.call(this, moment, steady, ...rest);
  };
}

// JSON.stringify's third argument would multiply the size of what is deeply nested.
const withoutSpace = (handler: Handler): Handler =>
  function (value) {
    return handler.call(this, value);
  };

const adapted: Record<string, (handler: Handler) => Handler> = {
  date: withClock,
  date_to_xmlschema: withClock,
  date_to_rfc822: withClock,
  date_to_string: withClock,
  date_to_long_string: withClock,
  json: withoutSpace,
  jsonify: withoutSpace,
  inspect: withoutSpace,
};

const isGenerator = (value: unknown): value is Generator<unknown, unknown> =>
  typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function';

function* boundedLater(result: Generator<unknown, unknown>, context: Context): Generator<unknown, unknown> {
  const value: unknown = yield result;
  context.renderLimit.check(performance.now());
  return refuseHeavy(value);
}

function bounded(handler: Handler): Handler {
  return function (...args) {
    const result = handler.apply(this, args);
    if (isGenerator(result)) return boundedLater(result, this.context);
    if (typeof result !== 'string') this.context.renderLimit.check(performance.now());
    return refuseHeavy(result);
  };
}

export const rangeFilter = '(range)';

/**
 * Stands in for liquidjs' own ranges: those loop for ever where the numbers are so large that adding 1 changes nothing,
 * and take the process down with them.
 */
function range(this: FilterThis, low: unknown, high: unknown): number[] {
  const first = Math.trunc(Number(toValue(low)));
  const last = Math.trunc(Number(toValue(high)));
  const length = last - first + 1;
  if (!(length > 0)) return [];
  this.context.memoryLimit.use(length * 8);
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last))
    throw new LimitError('a range has a number that is too large');
  return Array.from({ length }, (_, index) => first + index);
}

/** Replaces what liquidjs registered, in an engine that escapes as in one that does not. */
export function registerFilters(engine: Liquid): void {
  for (const name of removedFilters) engine.unregisterFilter(name);
  for (const name of Object.keys(builtIn)) {
    if (name === 'raw' || removedFilters.has(name)) continue;
    const handler = handlerOf(name);
    engine.registerFilter(name, bounded(adapted[name]?.(handler) ?? handler));
  }
  engine.registerFilter(rangeFilter, range);
}
