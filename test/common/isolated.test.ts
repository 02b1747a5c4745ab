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

test.each([
  ['oo.oo.oo', 8],
  ['oofoofoo', 8],
  ['ffffffff', 8],
  ['.ooo....', 4],
])('only outages in a row end the work on items: of %s, %i are begun', async (course, begun) => {
  expect(await begunOf(course)).toBe(begun);
});
