import { streamOf } from '../faults/storm/random.ts';
import type { Random } from '../faults/storm/types.ts';
import type { Grammar } from './grammar.ts';
import { mutated } from './mutate.ts';

/** A forbidden behaviour of a parser or a process for an input. */
export type Find = { target: string; index: number; fault: string };

/** Returns the FNV-1a hash of a target's name, so that each target has inputs of its own. */
function numberOf(name: string): number {
  let number = 0x811c9dc5;
  for (const character of name) number = Math.imul(number ^ character.codePointAt(0)!, 0x01000193);
  return number;
}

/** Returns the random numbers for one input. Only the seed, the target and the number of the input decide them. */
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
