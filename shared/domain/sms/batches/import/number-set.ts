import { randomInt } from 'node:crypto';

/**
 * Makes a set of phone numbers in E.164. Half a million of them take 8 MB; a Set of strings takes several times as
 * much, beside all else that the process has to do.
 */
export function numberSet() {
  let slots = new Float64Array(1_024);
  // Without a seed, the author of a file could choose numbers that all search for the same place, each past all others.
  const seed = randomInt(2 ** 32);
  let size = 0;

  function placeOf(value: number): number {
    const mask = slots.length - 1;
    let at = mixed(value, seed) & mask;
    while (slots[at] !== 0 && slots[at] !== value) at = (at + 1) & mask;
    return at;
  }

  function grow(): void {
    const before = slots;
    slots = new Float64Array(before.length * 2);
    for (const value of before) if (value !== 0) slots[placeOf(value)] = value;
  }

  return {
    has: (number: string): boolean => slots[placeOf(Number(number.slice(1)))] !== 0,
    add: (number: string): void => {
      const value = Number(number.slice(1));
      const at = placeOf(value);
      if (slots[at] !== 0) return;
      slots[at] = value;
      size += 1;
      if (size * 2 > slots.length) grow();
    },
  };
}

/** The lower and the upper half go through one after the other: in a sum of both, numbers could have the same. */
function mixed(value: number, seed: number): number {
  return scattered(scattered(value ^ seed) ^ (value / 2 ** 32));
}

/** Lets each bit change any other, as the last steps of MurmurHash3 do. */
function scattered(bits: number): number {
  let all = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  all = Math.imul(all ^ (all >>> 13), 0xc2b2ae35);
  return all ^ (all >>> 16);
}
