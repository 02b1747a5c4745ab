import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { startsProcesses } from './projects.ts';

// Each of these files takes most of a minute, although it is small.
const longest =
  /^test\/(faults\/(rolling-deploy|hostile-clients|storm|sms\/batches-killed)|flows\/large-emails|browser\/(pages|reference)|scripts\/bench-compare)\.test/;
// The files here wait for processes and threads, many of them for most of half a minute.
const long = /^test\/(faults|flows|sandbox)\/|^test\/architecture\.test/;

/**
 * Starts long files first: a long file that starts last uses one core while the other idles. Vitest orders files by
 * their last duration, or by their size where that is unknown, as in a fresh checkout. The files known to be long go
 * first. Files that mostly wait for processes run beside files that compute, so that all cores have work all the time.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const nameOf = ({ moduleId }: TestSpecification) =>
      path.relative(this.ctx.config.root, moduleId).split(path.sep).join('/');
    const rank = (file: TestSpecification) =>
      longest.test(nameOf(file)) ? 0 : long.test(nameOf(file)) ? 1 : 2;
    // oxlint-disable-next-line unicorn/no-array-sort -- no array's sort, but that of vitest
    const sorted = (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
    const of = (project: string) => sorted.filter((file) => file.project.name === project);
    const { waiting = [], computing = [] } = Object.groupBy(of('shared'), (file) =>
      startsProcesses(nameOf(file)) ? 'waiting' : 'computing',
    );
    // Vitest ends a process when the next file is of another project, so each project stays together.
    return [...of('apart'), ...inTurns(waiting, computing), ...of('pure')];
  }
}

/** Merges two lists, each in its order, with the items of `some` spread evenly among `others`. */
export function inTurns<T>(some: readonly T[], others: readonly T[]): T[] {
  const placed = [
    ...some.map((one, index) => ({ one, place: index / some.length })),
    ...others.map((one, index) => ({ one, place: (index + 0.5) / others.length })),
  ];
  return placed.toSorted((a, b) => a.place - b.place).map(({ one }) => one);
}
