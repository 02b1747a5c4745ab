import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { moneyText, parseMoney } from '../../shared/formats/money.ts';

test.each([
  [0, '0.0000'],
  [1, '0.0001'],
  [345, '0.0345'],
  [10_000, '1.0000'],
  [123_456_789, '12345.6789'],
  [-345, '-0.0345'],
])('%i ten-thousandths are %j', (amount, text) => {
  expect(moneyText(amount)).toBe(text);
  expect(parseMoney(text)).toBe(amount);
});

test.each([
  ['1', 10_000],
  ['0.5', 5_000],
  ['0.1', 1_000],
  ['007.25', 72_500],
  ['-0', 0],
])('%j is read as %i', (text, amount) => {
  expect(parseMoney(text)).toBe(amount);
});

test.each(['', ' ', '1,5', '.5', '5.', '1e3', '+1', '0.00001', '1234567890', 'NaN', '0x10', '1\n', '１'])(
  '%j is no amount',
  (text) => {
    expect(parseMoney(text)).toBeNull();
  },
);

test('an amount comes back from its text exactly', () => {
  const largest = 9_999_999_999_999;
  fc.assert(
    fc.property(fc.integer({ min: -largest, max: largest }), (amount) => {
      expect(parseMoney(moneyText(amount))).toBe(amount);
    }),
  );
});
