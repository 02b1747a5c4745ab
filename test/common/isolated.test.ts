import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { problem } from '../../shared/common/errors.ts';
import { isolated } from '../../shared/common/isolated.ts';

/** Works on one item for each letter (o: outage, f: another fault, .: success), and returns how many were begun. */
async function begunOf(course: string): Promise<number> {
  let begun = 0;
  await isolated('an item failed as a test wants it').each(
    [...course],
    (letter) => ({ letter }),
    async (letter) => {
      begun += 1;
      if (letter === 'o') throw problem('service_unavailable');
      if (letter === 'f') throw new Error('refused');
    },
  );
  return begun;
}

// A round may begin with any letter, and goes on from the last one to the first.
test.each([
  ['oo.oo.oo.', 9],
  ['oofoofoof', 9],
  ['fffffffff', 9],
  ['ooooooooo', 3],
])('only outages in a row end the work on items: of %s, %i are begun', async (course, begun) => {
  expect(await begunOf(course)).toBe(begun);
});

test('items that take long end the round of them after its longest time, and the next round may begin with any other', async () => {
  const longestMs = 5;
  const seen = new Set<string>();
  for (let round = 0; round < 500 && seen.size < 3; round += 1) {
    const startedAt = performance.now();
    let begun = 0;
    await isolated('an item failed as a test wants it', longestMs).each(
      ['a', 'b', 'c'],
      (letter) => ({ letter }),
      async (letter) => {
        begun += 1;
        seen.add(letter);
        while (performance.now() - startedAt <= 2 * longestMs) await nextTurn();
      },
    );
    expect(begun).toBe(1);
  }
  expect([...seen].toSorted()).toEqual(['a', 'b', 'c']);
});
