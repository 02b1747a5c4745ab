import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { expect, test } from 'vitest';
import { parsePhoneNumber } from '../../shared/formats/phone-number.ts';

const drama = { ok: true, number: '+447700900123', country: 'GB', national: '07700900123' };

test.each([
  '07700 900123',
  '+447700900123',
  '+44 7700 900123',
  '447700900123',
  '0044 7700 900123',
  '+44 (0)7700 900123',
  '7700900123',
  ' 07700-900-123 ',
  '(07700) 900123',
  '07700.900.123',
  '07700/900123',
  '07700\u00a0900\u202f123',
  '\u202a+44 7700 900123\u202c',
  '＋４４ ７７００ ９００１２３',
  '07700‑900‑123',
])('%j is written in one of the usual ways', (text) => {
  expect(parsePhoneNumber(text)).toEqual(drama);
});

test.each([
  ['020 7946 0018', '+442079460018', 'GB'],
  ['+33 6 12 34 56 78', '+33612345678', 'FR'],
  ['+1 213 555 0123', '+12135550123', 'US'],
  ['+1 416 555 0123', '+14165550123', 'CA'],
  ['+44 1481 960194', '+441481960194', 'GG'],
  ['+7 700 123 4567', '+77001234567', 'KZ'],
  ['0800 1111', '+448001111', 'GB'],
  ['+800 1234 5678', '+80012345678', null],
])('%j is %s of %s', (text, number, country) => {
  expect(parsePhoneNumber(text)).toMatchObject({ ok: true, number, country });
});

test('a number without a country code is of the country that is given', () => {
  expect(parsePhoneNumber('06 12 34 56 78', 'FR')).toMatchObject({ number: '+33612345678', country: 'FR' });
  expect(parsePhoneNumber('07700 900123', 'XX')).toEqual(drama);
});

test.each([
  '',
  '   ',
  'hello',
  '07700 900123 ext 5',
  '07700 900123x5',
  '+447700900123;ext=12',
  '07700 900123 #5',
  '07700 900123,,5',
  '1-800-FLOWERS',
  '112',
  '+999123456',
  '+44 7700 9001',
  '+44 7700 900123 4567',
  '++447700900123',
  '+44+7700900123',
  '07700 900123 07700 900124',
  '07700 900123 & 07700 900124',
  "07700'900123",
  '٠٧٧٠٠٩٠٠١٢٣x',
  '0'.repeat(41),
  '-',
  '+',
  '()',
])('%j is no phone number', (text) => {
  expect(parsePhoneNumber(text)).toMatchObject({ ok: false, message: expect.any(String) });
});

test.each([')00040490900', '+44 0 00404 90900'])(
  '%j has a zero too many, and would be another number when it is read again',
  (text) => expect(parsePhoneNumber(text)).toMatchObject({ ok: false }),
);

test('what it returns, it takes for the same number', () => {
  for (const text of ['07700 900123', '+33 6 12 34 56 78', '+12135550123', '+80012345678', '+39 06 6982']) {
    const first = parsePhoneNumber(text);
    if (!first.ok) throw new Error(text);
    expect(parsePhoneNumber(first.number)).toEqual(first);
  }
});

test('British numbers are what the library takes them for, from each of their first five digits', () => {
  for (let start = 10_000; start < 100_000; start += 1) {
    if (!/^[127]/.test(String(start))) continue;
    const digits = `${start}${String((start * 7919) % 100_000).padStart(5, '0')}`;
    const theirs = parsePhoneNumberFromString(`+44${digits}`)!;
    const { number, country = 'GB' } = theirs;
    const national = theirs.formatNational().replaceAll(/\D/g, '');
    const ours = parsePhoneNumber(
      start % 2 === 0 ? `+44${digits}` : `0${digits.slice(0, 4)} ${digits.slice(4)}`,
    );
    expect(ours).toEqual({ ok: true, number, country, national });
  }
});
