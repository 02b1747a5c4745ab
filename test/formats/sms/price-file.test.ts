import { expect, test } from 'vitest';
import { parsePriceFile } from '../../../shared/formats/sms/price-file.ts';

const header = 'country,gbp,eur,validFrom';
const day = (text: string) => new Date(`${text}T00:00:00Z`);

test('a price table is read whatever its line ends, order of columns, quotes and blank lines', async () => {
  const file =
    '\ufeffvalidFrom,country,eur,gbp\r\n2026-12-01,GB,0.0412,0.0345\n\n"2026-12-01", FR ,,"0.06"\r,,,\n2027-01-01,GB,,\n';
  expect(await parsePriceFile(file)).toEqual({
    ok: true,
    prices: [
      { country: 'GB', gbp: 345, eur: 412, validFrom: day('2026-12-01') },
      { country: 'FR', gbp: 600, eur: null, validFrom: day('2026-12-01') },
      { country: 'GB', gbp: null, eur: null, validFrom: day('2027-01-01') },
    ],
  });
});

test('every wrong line is named, with all that is wrong with it', async () => {
  const file = [
    header,
    'gb,1e3,-1,2026-02-30',
    'GB,0.0345,0.0412,2026-12-01',
    'GB,1,1',
    'GB,0.0001,1000,2026-12-01',
    'ZZ,0.00001,1000.0001,01/12/2026',
    'FR,"0,5",£1,2026-12-1',
  ].join('\n');
  const country = expect.stringMatching(/^country must be the two letters/);
  const amount = (name: string) => expect.stringMatching(new RegExp(`^${name} must be an amount`));
  const validFrom = expect.stringMatching(/^validFrom must be a day/);
  expect(await parsePriceFile(file)).toEqual({
    ok: false,
    errors: {
      'line 2': [country, amount('gbp'), amount('eur'), validFrom],
      'line 4': ['has 3 fields, not 4'],
      'line 5': ['GB from 2026-12-01 is on line 3 too'],
      'line 6': [country, amount('gbp'), amount('eur'), validFrom],
      'line 7': [amount('gbp'), amount('eur'), validFrom],
    },
  });
});

test.each([
  ['no header', 'GB,0.0345,0.0412,2026-12-01\n', 'line 1', 'must name the columns'],
  ['semicolons', `${header.replaceAll(',', ';')}\nGB;1;1;2026-12-01\n`, 'line 1', 'must name the columns'],
  ['a column more', `${header},note\nGB,1,1,2026-12-01,x\n`, 'line 1', 'must name the columns'],
  ['a column twice', 'country,gbp,gbp,validFrom\nGB,1,1,2026-12-01\n', 'line 1', 'must name the columns'],
  ['nothing', '', 'line 1', 'must name the columns'],
  ['no price', `${header}\n`, 'line 2', 'must be a price'],
  ['an open quote', `${header}\nGB,"1,1,2026-12-01\n`, 'line 2', 'is not CSV'],
])('a file with %s is refused', async (_name, file, line, message) => {
  expect(await parsePriceFile(file)).toEqual({
    ok: false,
    errors: { [line]: [expect.stringContaining(message)] },
  });
});

test('all territories that numbers are of can have a price', async () => {
  const codes = ['GB', 'GG', 'JE', 'IM', 'XK', 'AC', 'TA', 'PR'];
  const lines = codes.map((code) => `${code},0.1,0.1,2026-12-01`);
  expect(await parsePriceFile([header, ...lines].join('\n'))).toMatchObject({ ok: true });
});
