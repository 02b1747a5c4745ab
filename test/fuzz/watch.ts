import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mainThreadCpuMs } from '../support/processes/cpu-time.ts';
import { startProcess } from '../support/processes/processes.ts';
import type { Find } from './inputs.ts';
import { inputAt, type Task } from './parsers.ts';

const pollEveryMs = 500;
/** CPU time for one input, longer than any limit: such a parser is not slow but never ends. */
const endlessMs = 8_000;
const heapMb = 512;

type Watched = { finds: Find[]; inputs: number };

/** Runs the parsers until the inputs or the time are over. A process that hangs or dies is a find, and is replaced. */
export async function fuzzParsers(task: Omit<Task, 'progress'>, folder: string): Promise<Watched> {
  const progress = path.join(folder, 'progress');
  const finds: Find[] = [];
  let from = task.from;
  while (from < task.to && Date.now() < task.until) {
    fs.writeFileSync(progress, '');
    const child = startProcess('test/fuzz/parsers.ts', [JSON.stringify({ ...task, from, progress })], {
      NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
    });
    const fault = await endOf(child);
    finds.push(...findsIn(child.output()));
    const at = numberIn(progress) ?? from;
    from = at + 1;
    if (fault === null) break;
    finds.push({ ...inputAt(task, at), fault: `${fault}\n${child.output().slice(-1_000)}` });
  }
  return { finds, inputs: from - task.from };

  async function endOf(child: ReturnType<typeof startProcess>): Promise<string | null> {
    let last = { number: -1, cpuMs: 0 };
    while (child.isRunning()) {
      await Promise.race([child.exited, sleep(pollEveryMs, undefined, { ref: false })]);
      if (!child.isRunning()) break;
      const number = numberIn(progress) ?? -1;
      const cpuMs = mainThreadCpuMs(child.pid);
      if (number !== last.number) last = { number, cpuMs };
      else if (number >= 0 && cpuMs - last.cpuMs > endlessMs) {
        await child.kill();
        return `it does not end within ${endlessMs} ms of CPU time`;
      }
    }
    const { code, signal } = await child.exited;
    return code === 0 ? null : `its process ended with ${signal ?? code}`;
  }
}

function numberIn(file: string): number | null {
  const bytes = fs.readFileSync(file);
  return bytes.length < 8 ? null : bytes.readDoubleLE();
}

function findsIn(output: string): Find[] {
  return output
    .split('\n')
    .flatMap((line) => (line.startsWith('{"target":') ? [JSON.parse(line) as Find] : []));
}
