import { streamOf } from '../faults/storm/random.ts';
import type { Random } from '../faults/storm/types.ts';
import type { Grammar } from './grammar.ts';
import { mutated } from './mutate.ts';

/** Something that a parser or a process did with an input that it must not do with any. */
export type Find = { target: string; index: number; fault: string };

/** FNV-1a: each target has inputs of its own. */
function numberOf(name: string): number {
  let number = 0x811c9dc5;
  for (const character of name) number = Math.imul(number ^ character.codePointAt(0)!, 0x01000193);
  return number;
}

/** All that is drawn for one input: the seed, the target and the number of the input decide it, and nothing else does. */
export const randomFor = (seed: number, target: string, index: number): Random =>
  streamOf(seed ^ numberOf(target), index);

export function inputOf(
  seed: number,
  { name, grammar, mostBytes }: { name: string; grammar: Grammar; mostBytes: number },
  index: number,
): Buffer {
  const random = randomFor(seed, name, index);
  return mutated(random, () => Buffer.from(grammar(random))).subarray(0, mostBytes);
}
