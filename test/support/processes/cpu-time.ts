import { existsSync, readFileSync } from 'node:fs';

/** The step in which a system counts CPU time that does not keep nanoseconds. */
const tickMs = 10;

/**
 * Returns the CPU time (ms) that the main thread of a process has used. Unlike time on a clock, it does not depend on
 * other programs. Its growth during a wait tells how long the process computed meanwhile, also for something else.
 */
export function mainThreadCpuMs(pid: number): number {
  const folder = `/proc/${pid}/task/${pid}`;
  if (existsSync(`${folder}/schedstat`))
    return Number(readFileSync(`${folder}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  const text = readFileSync(`${folder}/stat`, 'latin1');
  // The name of the process, in parentheses, may contain any character.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** Returns the CPU time (ms) that this thread needs for the work. Other threads may run other test files. */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** The CPU time of the reference work, on a machine that does nothing else, with compiled code. */
const referenceMs = 20;

/**
 * Returns how many times as long as usual computing takes now, at least 1: other programs take caches and hyperthreads
 * away, so the same work costs more CPU time. Measure it in the same run as the work whose limit it scales.
 */
export function cpuSlowdown(): number {
  const records = Array.from({ length: 20_000 }, (_, index) => ({
    id: `record_${index}`,
    count: index,
    tags: ['a', 'b'],
  }));
  const text = JSON.stringify(records);
  const times = Array.from({ length: 3 }, () => cpuMsOf(() => JSON.stringify(JSON.parse(text))));
  const middle = times.toSorted((one, other) => one - other)[1]!;
  return Math.max(1, middle / referenceMs);
}
