import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { offsetAt, startsBetween, timeOfLocal, zoneNamed } from '../../shared/formats/time-zone.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { waitFor } from '../support/time/wait-for.ts';

const at = (text: string) => Date.parse(text);
const hours = (from: number, to: number) => (to - from) / 3_600_000;
const starts = (zone: string, unit: 'day' | 'month', from: string, to: string) =>
  startsBetween(zone, unit, at(from), at(to)).map((time) => new Date(time).toISOString().slice(0, 16));

test.each([
  ['Europe/London', 'Europe/London'],
  ['EUROPE/london', 'Europe/London'],
  ['utc', 'UTC'],
  ['Etc/GMT+5', 'Etc/GMT+5'],
  // Node knows these zones by older names.
  ['Asia/Kolkata', 'Asia/Kolkata'],
  ['Europe/Kyiv', 'Europe/Kyiv'],
  ['Asia/Calcutta', 'Asia/Calcutta'],
  ['Mars/Olympus', null],
  ['+01:00', null],
  ['', null],
])('the zone %o is called %o', (text, name) => {
  expect(zoneNamed(text)).toBe(name);
});

test('a zone that is spelled in ever new ways takes no more and more memory', async () => {
  const { DateTimeFormat } = Intl;
  const made: WeakRef<Intl.DateTimeFormat>[] = [];
  Intl.DateTimeFormat = function remembered(...args: ConstructorParameters<typeof DateTimeFormat>) {
    const format = new DateTimeFormat(...args);
    made.push(new WeakRef(format));
    return format;
  } as typeof DateTimeFormat;
  atEnd(() => {
    Intl.DateTimeFormat = DateTimeFormat;
  });
  const spelled = (number: number) =>
    [...'america/port-au-prince']
      .map((letter, place) => (number & (1 << place) ? letter.toUpperCase() : letter))
      .join('');
  for (let number = 0; number < 1_000; number += 1)
    expect(zoneNamed(spelled(number))).toMatch(/^america\/port-au-prince$/i);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await waitFor('most of the formats are gone', () => {
    collect();
    return made.filter((format) => format.deref()).length <= 250;
  });
});

test('the day on which clocks go back is 25 hours long, and the one on which they go forward 23', () => {
  expect(starts('Europe/London', 'day', '2026-10-24T23:00Z', '2026-10-26T00:00Z')).toEqual([
    '2026-10-24T23:00',
    '2026-10-26T00:00',
  ]);
  expect(starts('Europe/London', 'day', '2026-03-29T12:00Z', '2026-03-29T23:00Z')).toEqual([
    '2026-03-29T00:00',
    '2026-03-29T23:00',
  ]);
});

test('where clocks leap over midnight, the day begins when they leap', () => {
  expect(starts('Africa/Cairo', 'day', '2026-04-23T12:00Z', '2026-04-24T21:00Z')).toEqual([
    '2026-04-22T22:00',
    '2026-04-23T22:00',
    '2026-04-24T21:00',
  ]);
  expect(starts('America/Santiago', 'day', '2026-09-06T12:00Z', '2026-09-07T03:00Z')).toEqual([
    '2026-09-06T04:00',
    '2026-09-07T03:00',
  ]);
  expect(starts('America/Havana', 'day', '2026-03-08T12:00Z', '2026-03-09T04:00Z')).toEqual([
    '2026-03-08T05:00',
    '2026-03-09T04:00',
  ]);
});

test('where clocks go back to midnight, or over it, a day begins once', () => {
  // Midnight comes twice, and the day begins with the first one.
  expect(starts('America/Havana', 'day', '2026-11-01T04:00Z', '2026-11-02T05:00Z')).toEqual([
    '2026-11-01T04:00',
    '2026-11-02T05:00',
  ]);
  // The last hour of Saturday comes twice.
  expect(starts('America/Santiago', 'day', '2026-04-04T12:00Z', '2026-04-05T12:00Z')).toEqual([
    '2026-04-04T03:00',
    '2026-04-05T04:00',
    '2026-04-06T04:00',
  ]);
});

test('clocks that change by half an hour, and zones that are off by part of an hour', () => {
  expect(starts('Australia/Lord_Howe', 'day', '2026-04-04T13:00Z', '2026-04-05T13:30Z')).toEqual([
    '2026-04-04T13:00',
    '2026-04-05T13:30',
  ]);
  expect(hours(0, offsetAt('Australia/Lord_Howe', at('2026-04-01T00:00Z')))).toBe(11);
  expect(hours(0, offsetAt('Australia/Lord_Howe', at('2026-04-08T00:00Z')))).toBe(10.5);
  expect(hours(0, offsetAt('Asia/Kolkata', at('2026-04-08T00:00:00.500Z')))).toBe(5.5);
  expect(offsetAt('Africa/Monrovia', at('1971-01-01T00:00Z'))).toBe(-(44 * 60 + 30) * 1000);
});

test('months begin by the clocks of the zone, in winter and in summer', () => {
  expect(starts('America/New_York', 'month', '2026-02-15T00:00Z', '2026-04-20T00:00Z')).toEqual([
    '2026-02-01T05:00',
    '2026-03-01T05:00',
    '2026-04-01T04:00',
    '2026-05-01T04:00',
  ]);
});

test('a local time that comes twice is the first, and one that never comes is when clocks leap over it', () => {
  expect(timeOfLocal('Europe/London', at('2026-10-25T01:30Z'))).toBe(at('2026-10-25T00:30Z'));
  expect(timeOfLocal('Europe/London', at('2026-03-29T01:30Z'))).toBe(at('2026-03-29T01:30Z'));
});
