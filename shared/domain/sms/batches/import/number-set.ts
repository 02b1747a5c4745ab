/**
 * Makes a set of phone numbers in E.164. Half a million of them take 8 MB; a Set of strings takes several times as
 * much, beside all else that the process has to do.
 */
export function numberSet() {
  let slots = new Float64Array(1_024);
  let size = 0;

  function placeOf(value: number): number {
    const mask = slots.length - 1;
    let at = (Math.imul(value % 0x7fffffff, 0x9e3779b1) >>> 0) & mask;
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
