import { Liquid } from 'liquidjs';
import { expect, test, vi } from 'vitest';
import { strftime, utc, zoneAt } from '../../../shared/formats/templates/strftime.ts';

// liquidjs, the reference here, shows dates through the host's zone.
vi.hoisted(() => {
  process.env['TZ'] = 'UTC';
});

const reference = new Liquid({ locale: 'en-US', timezoneOffset: 0 });
const moments = [
  '2026-01-01T00:00:00.000Z',
  '2026-03-08T02:30:59.007Z',
  '2024-02-29T12:00:00.120Z',
  '2026-11-20T10:05:09.999Z',
  '2026-12-31T23:59:59.500Z',
  '1999-07-04T13:01:00.000Z',
  '0099-10-10T20:20:20.020Z',
];

test('every conversion, flag and width gives what liquidjs gives', () => {
  const letters = [...'aAbBhCdeHIjklLmMNpPqsSuUwWyYztn%Qf'];
  const flags = ['', '-', '_', '0', '^', '#', '^_', ':'];
  const formats = letters.flatMap((letter) =>
    flags.flatMap((flag) => ['', '1', '5', '12'].map((width) => `<%${flag}${width}${letter}>`)),
  );
  for (const moment of moments)
    for (const format of [...formats, '%Ey %Od', 'no conversion', '%', '%%%d', 'a%\nb'])
      expect([moment, format, strftime(new Date(moment), format)]).toEqual([
        moment,
        format,
        reference.parseAndRenderSync('{{ moment | date: format }}', { moment, format }),
      ]);
});

test('local forms are those of the C locale, and the zone is UTC', () => {
  expect(strftime(new Date(moments[3]!), '%c|%x|%X|%Z')).toBe(
    'Fri Nov 20 10:05:09 2026|11/20/26|10:05:09|UTC',
  );
});

test.each([
  ['Europe/Amsterdam', '2026-03-29T00:59:59Z', '2026-03-29 01:59:59 +0100 +01:00 Europe/Amsterdam'],
  ['Europe/Amsterdam', '2026-03-29T01:00:00Z', '2026-03-29 03:00:00 +0200 +02:00 Europe/Amsterdam'],
  ['america/new_york', '2026-11-20T02:00:00Z', '2026-11-19 21:00:00 -0500 -05:00 america/new_york'],
  ['Asia/Kathmandu', '2026-12-31T20:00:00Z', '2027-01-01 01:45:00 +0545 +05:45 Asia/Kathmandu'],
  ['UTC', '2026-12-31T20:00:00Z', '2026-12-31 20:00:00 +0000 +00:00 UTC'],
])('in %s it is the local time of %s', (name, moment, local) => {
  const instant = new Date(moment);
  expect(strftime(instant, '%Y-%m-%d %H:%M:%S %z %:z %Z', zoneAt(instant, name))).toBe(local);
});

test.each(['', 'Mars/Olympus', '+02:00', 'x'.repeat(100_000), '../../etc/localtime'])(
  'there is no zone %#',
  (name) => {
    expect(() => zoneAt(new Date(0), name)).toThrow(RangeError);
  },
);

test('what would make a long text of a short format is refused', () => {
  expect(() => strftime(new Date(0), '%999999999d', utc)).toThrow('a date format has a width above 1000');
  expect(() => strftime(new Date(0), '%d'.repeat(6000), utc)).toThrow('a date format is too long');
});
