import { expect, test } from 'vitest';
import { numberSet } from '../../../../shared/domain/sms/batches/import/number-set.ts';
import { cpuMsOf, cpuSlowdown } from '../../../support/processes/cpu-time.ts';

test('what was added is in the set, and nothing else', () => {
  const set = numberSet();
  // The steps reach far beyond 32 bits, and back.
  const numbers = Array.from({ length: 40_000 }, (_, index) => `+${1_000_000 + index ** 3}`);
  const isAdded = (index: number) => index % 3 !== 0;
  for (const [index, number] of numbers.entries()) {
    expect(set.has(number)).toBe(false);
    if (isAdded(index)) set.add(number);
    if (isAdded(index)) set.add(number);
  }
  expect(numbers.filter((number) => set.has(number))).toEqual(
    numbers.filter((_number, index) => isAdded(index)),
  );
});

test.each([
  ['that differ by a power of two', (index: number) => 8_613_000_000_000 + index * 65_536],
  ['that are a power of two apart, but for a prime', (index: number) => 4_011 * 0x7fffffff + index * 65_536],
])('32,000 numbers %s take less than half a second of CPU time', (_name, numberOf) => {
  const numbers = Array.from({ length: 32_000 }, (_, index) => `+${numberOf(index)}`);
  const set = numberSet();
  // Usual are ten milliseconds. Where all are in one row of places, each looks at all before it: several seconds.
  const ms = cpuMsOf(() => {
    for (const number of numbers) if (!set.has(number)) set.add(number);
  });
  expect(ms / cpuSlowdown()).toBeLessThan(500);
});
