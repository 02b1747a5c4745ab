import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Their files wait for processes, for most of half a minute each, which their size does not tell.
const long = /^test\/(faults|flows)\//;

/**
 * A long file that starts last has a core to itself while the other idles. Vitest goes by how long files took before,
 * or by their size where that is not known, as in a fresh checkout; the files known to be long go before both.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      long.test(relative(this.ctx.config.root, moduleId)) ? 0 : 1;
    // oxlint-disable-next-line unicorn/no-array-sort -- no array's sort, but that of vitest
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
