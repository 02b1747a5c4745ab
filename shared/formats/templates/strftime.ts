import { offsetAt } from '../time-zone.ts';

/** English names on every host, without Intl: a DateTimeFormat takes 28 kB that V8 does not count. */
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const longestFormat = 10_000;
const largestWidth = 1000;
const dayMs = 86_400_000;

/** `offsetMinutes`: ahead of UTC. */
export type Zone = { name: string; offsetMinutes: number };
export const utc: Zone = { name: 'UTC', offsetMinutes: 0 };

/** `date` carries the wall clock in its UTC fields. */
type Moment = { date: Date; instant: Date; zone: Zone };

// Date.UTC takes the year 99 for 1999.
const dayNumber = (year: number, month: number, day: number) =>
  new Date(0).setUTCFullYear(year, month, day) / dayMs;
const dayOfYear = (date: Date) =>
  dayNumber(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()) -
  dayNumber(date.getUTCFullYear(), 0, 0);
const weekOfYear = (date: Date, firstDay: number) =>
  Math.floor((dayOfYear(date) + 6 - ((date.getUTCDay() - firstDay + 7) % 7)) / 7);

function ordinal(day: number): string {
  if (day >= 11 && day <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th';
}

function offset({ zone }: Moment, separator: string): string {
  const minutes = Math.abs(zone.offsetMinutes);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${zone.offsetMinutes < 0 ? '-' : '+'}${two(minutes / 60)}${separator}${two(minutes % 60)}`;
}

/** A conversion: its value, its default width and its default filler. */
type Conversion = [
  (moment: Moment, flags: string, width: number) => string | number,
  width?: number,
  filler?: string,
];

const conversions: Record<string, Conversion> = {
  a: [({ date }) => (days[date.getUTCDay()] ?? '').slice(0, 3), 0, ' '],
  A: [({ date }) => days[date.getUTCDay()] ?? '', 0, ' '],
  b: [({ date }) => (months[date.getUTCMonth()] ?? '').slice(0, 3), 0, ' '],
  h: [({ date }) => (months[date.getUTCMonth()] ?? '').slice(0, 3)],
  B: [({ date }) => months[date.getUTCMonth()] ?? '', 0, ' '],
  c: [({ instant, zone }) => strftime(instant, '%a %b %e %H:%M:%S %Y', zone), 0, ' '],
  C: [({ date }) => Math.floor(date.getUTCFullYear() / 100), 2],
  d: [({ date }) => date.getUTCDate(), 2],
  e: [({ date }) => date.getUTCDate(), 2, ' '],
  H: [({ date }) => date.getUTCHours(), 2],
  I: [({ date }) => date.getUTCHours() % 12 || 12, 2],
  j: [({ date }) => dayOfYear(date), 3],
  k: [({ date }) => date.getUTCHours(), 2, ' '],
  l: [({ date }) => date.getUTCHours() % 12 || 12, 2, ' '],
  L: [({ date }) => date.getUTCMilliseconds(), 3],
  m: [({ date }) => date.getUTCMonth() + 1, 2],
  M: [({ date }) => date.getUTCMinutes(), 2],
  N: [
    ({ date }, _flags, width) =>
      String(date.getUTCMilliseconds())
        .padStart(3, '0')
        .slice(0, width || 9)
        .padEnd(width || 9, '0'),
  ],
  p: [({ date }) => (date.getUTCHours() < 12 ? 'AM' : 'PM'), 0, ' '],
  P: [({ date }) => (date.getUTCHours() < 12 ? 'am' : 'pm'), 0, ' '],
  q: [({ date }) => ordinal(date.getUTCDate())],
  s: [({ instant }) => Math.floor(instant.getTime() / 1000)],
  S: [({ date }) => date.getUTCSeconds(), 2],
  u: [({ date }) => date.getUTCDay() || 7],
  U: [({ date }) => weekOfYear(date, 0), 2],
  w: [({ date }) => date.getUTCDay()],
  W: [({ date }) => weekOfYear(date, 1), 2],
  x: [({ instant, zone }) => strftime(instant, '%m/%d/%y', zone)],
  X: [({ instant, zone }) => strftime(instant, '%H:%M:%S', zone)],
  y: [({ date }) => ((date.getUTCFullYear() % 100) + 100) % 100, 2],
  Y: [({ date }) => date.getUTCFullYear(), 4],
  z: [(moment, flags) => offset(moment, flags.includes(':') ? ':' : '')],
  Z: [({ zone }) => zone.name],
  t: [() => '\t'],
  n: [() => '\n'],
  '%': [() => '%'],
};

const directive = /%([-_0^#:]*)(\d*)[EO]?(.)/g;

/** Ruby's strftime, which Liquid's dates follow: flags `-_0^#:`, widths, and `%q` for st, nd, rd, th. */
export function strftime(instant: Date, format: string, zone: Zone = utc): string {
  if (format.length > longestFormat) throw new RangeError('a date format is too long');
  const moment = { date: new Date(instant.getTime() + zone.offsetMinutes * 60_000), instant, zone };
  return format.replace(directive, (found, flags: string, digits: string, letter: string) => {
    const conversion = conversions[letter];
    if (!conversion) return found;
    const given = Number(digits);
    if (given > largestWidth) throw new RangeError(`a date format has a width above ${largestWidth}`);
    const [convert, ownWidth = 0, ownFiller = '0'] = conversion;
    let text = String(convert(moment, flags, given));
    if (flags.includes('^')) text = text.toUpperCase();
    else if (flags.includes('#')) text = /[a-z]/.test(text) ? text.toUpperCase() : text.toLowerCase();
    const width = flags.includes('-') ? 0 : given || ownWidth;
    const filler = flags.includes('_') ? ' ' : flags.includes('0') ? '0' : ownFiller;
    return filler === '0' && text.startsWith('-')
      ? `-${text.slice(1).padStart(width - 1, filler)}`
      : text.padStart(width, filler);
  });
}

/** The zone `name` (Europe/Amsterdam) as it is at `instant`. Throws a RangeError when there is none of that name. */
export function zoneAt(instant: Date, name: string): Zone {
  if (!/^[a-z]/i.test(name)) throw new RangeError(`unknown time zone: ${name.slice(0, 50)}`);
  return { name, offsetMinutes: Math.round(offsetAt(name, instant.getTime()) / 60_000) };
}
