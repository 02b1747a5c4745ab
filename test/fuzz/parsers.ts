import fs from 'node:fs';
import { closeSandbox } from '../../shared/sandbox/sandbox.ts';
import { type Find, inputOf } from './inputs.ts';
import { faultOf } from './judge.ts';
import { targets } from './targets/index.ts';

/**
 * Calls the parsers in a process of its own, which may hang or die with an input. The process writes the number of each
 * input to the progress file before the call, so its watcher knows the guilty input. Each find is one line of JSON.
 */
export type Task = {
  seed: number;
  /** Names of targets; their inputs take turns. */
  names: string[];
  /** The number of the first input, counted over all these targets. */
  from: number;
  to: number;
  /** Milliseconds since 1970 at which the task ends anyway. */
  until: number;
  progress: string;
};

/** Returns the target and the index of the input with this number of progress. */
export const inputAt = ({ names }: Pick<Task, 'names'>, number: number) => ({
  target: names[number % names.length]!,
  index: Math.floor(number / names.length),
});

async function main(task: Task): Promise<void> {
  const file = fs.openSync(task.progress, 'w');
  const byName = new Map(targets.map((target) => [target.name, target]));
  const note = Buffer.alloc(8);
  for (let number = task.from; number < task.to && Date.now() < task.until; number += 1) {
    note.writeDoubleLE(number);
    fs.writeSync(file, note, 0, note.length, 0);
    const { target: name, index } = inputAt(task, number);
    const target = byName.get(name)!;
    const fault = await faultOf(target, inputOf(task.seed, target, index));
    if (fault !== null) console.log(JSON.stringify({ target: name, index, fault } satisfies Find));
  }
  await closeSandbox();
}

if (import.meta.main) await main(JSON.parse(process.argv[2]!) as Task);
