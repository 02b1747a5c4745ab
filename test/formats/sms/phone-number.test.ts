import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { expect, test } from 'vitest';
import { parseFilterNumber, parsePhoneNumber } from '../../../shared/formats/sms/phone-number.ts';

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

test.each([
  ['030 123456', 'a German number, read as a British one'],
  ['+44030123456', 'the zero of home after the code of the country'],
  ['07700 90099', 'a digit short'],
  ['+4477009001', 'two digits short'],
  ['07411 12345', 'a mobile, a digit short'],
  ['07411 1234567', 'a mobile, a digit long'],
  ['06 12 34 56 79', 'a French number, read as a British one'],
  ['+33 6 12 34 56', 'two digits short'],
  ['+1 800 000 0000', 'an exchange that begins with 0'],
  ['+44 7700 212345', 'a range that nobody has'],
])('%j is not valid: %s', (text) => {
  expect(parsePhoneNumber(text)).toEqual({ ok: false, message: 'is not a valid phone number' });
});

// https://www.ofcom.org.uk/phones-and-broadband/phone-numbers/numbers-for-drama
test.each([
  ['01632 960123', 'no area'],
  ['0113 496 0123', 'Leeds'],
  ['0114 496 0123', 'Sheffield'],
  ['0115 496 0123', 'Nottingham'],
  ['0116 496 0123', 'Leicester'],
  ['0117 496 0123', 'Bristol'],
  ['0118 496 0123', 'Reading'],
  ['0121 496 0123', 'Birmingham'],
  ['0131 496 0123', 'Edinburgh'],
  ['0141 496 0123', 'Glasgow'],
  ['0151 496 0123', 'Liverpool'],
  ['0161 496 0123', 'Manchester'],
  ['020 7946 0123', 'London'],
  ['0191 498 0123', 'Tyneside'],
  ['028 9649 6123', 'Northern Ireland'],
  ['029 2018 0123', 'Cardiff'],
  ['07700 900123', 'mobile'],
  ['0808 157 0123', 'freephone'],
  ['0909 879 0123', 'premium rate'],
  ['0306 999 0123', 'the whole of the UK'],
])('%s (%s) is kept for drama, and taken', (text) => {
  const digits = text.replaceAll(' ', '');
  const taken = { ok: true, number: `+44${digits.slice(1)}`, country: 'GB', national: digits };
  expect(parsePhoneNumber(text)).toEqual(taken);
  expect(parsePhoneNumber(taken.number)).toEqual(taken);
});

test('a filter takes what a record shows, and else what is a valid number', () => {
  expect(parseFilterNumber('07700 900123')).toMatchObject({ ok: true, number: '+447700900123' });
  expect(parseFilterNumber('+44030123456')).toEqual({ ok: true, number: '+44030123456' });
  for (const text of ['030 123456', '+44 030123456', '07700 90099', 'Acme', '+', ''])
    expect(parseFilterNumber(text), text).toMatchObject({ ok: false });
});

test('British numbers are what the library takes them for, from each of their first digits', () => {
  for (let start = 100_000; start < 800_000; start += 31) {
    // Only some of the numbers, to save seconds.
    if (!/^[127]/.test(String(start))) continue;
    for (const end of [start * 7919, start * 104_729]) {
      const digits = `${start}${String(end % 10_000).padStart(4, '0')}`;
      const theirs = parsePhoneNumberFromString(`+44${digits}`)!;
      const ours = parsePhoneNumber(
        start % 4 === 0 ? `+44${digits}` : `0${digits.slice(0, 4)} ${digits.slice(4)}`,
      );
      if (ours.ok !== theirs.isValid()) expect.fail(`${digits}: ${theirs.isValid()}, not ${ours.ok}`);
      if (!ours.ok) continue;
      const { number, country = 'GB' } = theirs;
      expect(ours).toEqual({
        ok: true,
        number,
        country,
        national: theirs.formatNational().replaceAll(/\D/g, ''),
      });
    }
  }
});
