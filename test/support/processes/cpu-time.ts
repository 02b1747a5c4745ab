import { existsSync, readFileSync } from 'node:fs';

/** Where the system does not keep nanoseconds, it counts in steps of so much. */
const tickMs = 10;

/**
 * CPU time that the main thread of a process has had. Unlike time on a clock it says how much the process did, whatever
 * else the machine does meanwhile: so much passes while somebody waits for a process that is busy with something else.
 */
export function mainThreadCpuMs(pid: number): number {
  const folder = `/proc/${pid}/task/${pid}`;
  if (existsSync(`${folder}/schedstat`))
    return Number(readFileSync(`${folder}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  const text = readFileSync(`${folder}/stat`, 'latin1');
  // The name, in parentheses, may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** CPU time that this thread needs for the work; other threads of the process may be at other files of tests. */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** Of the reference work, on a machine that does nothing else and has its code compiled. */
const referenceMs = 20;

/**
 * How many times as long as usual computing takes now, at least 1: other programs take caches and hyperthreads away, so
 * that the same work costs more CPU time. To be measured in the same run as what it scales the limit of.
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
