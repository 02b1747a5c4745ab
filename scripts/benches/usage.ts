import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { cpus } from 'node:os';

/** The CPU time of one process in the measured time, and its peak memory since it started. */
export interface Usage {
  cpuSeconds: number;
  peakMb: number;
  /** Memory without the program's files, which the machine holds once for all processes. */
  ownPeakMb: number;
}
export type Usages = Record<string, Usage>;
export interface Window {
  seconds: number;
  usages: Usages;
  /** Processors that were busy with other programs of the machine and its kernel. */
  otherCores: number;
}

const ticksPerSecond = 100;

/** Starts to measure; call the result to end it. Names -> process numbers. */
export function openWindow(pids: Record<string, number>): () => Window {
  const before = new Map(Object.values(pids).map((pid) => [pid, read(pid)]));
  const busyBefore = busySeconds();
  const startedAt = performance.now();
  return () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const busy = busySeconds() - busyBefore;
    const usages: Usages = {};
    for (const [name, pid] of Object.entries(pids)) {
      const { cpuSeconds, ...memory } = read(pid);
      usages[name] = { cpuSeconds: cpuSeconds - (before.get(pid)?.cpuSeconds ?? 0), ...memory };
    }
    const ours = Object.values(usages).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
    return { seconds, usages, otherCores: Math.max(0, (busy - ours) / seconds) };
  };
}

function read(pid: number): Usage {
  return process.platform === 'linux' ? readProc(pid) : readPs(pid);
}

function readProc(pid: number): Usage {
  // The name in brackets may hold anything; utime and stime are fields 14 and 15 (proc_pid_stat(5)).
  const fields = fs
    .readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1024;
  const peakMb = megabytes('VmHWM');
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    peakMb,
    ownPeakMb: peakMb - megabytes('RssFile'),
  };
}

/** Reads the usage by ps. It tells neither the peak nor the files, so this is the memory of the moment. */
function readPs(pid: number): Usage {
  const [time = '0', kb = '0'] = execFileSync('ps', ['-o', 'time=,rss=', '-p', String(pid)], {
    encoding: 'utf8',
  })
    .trim()
    .split(/\s+/);
  const cpuSeconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpuSeconds, peakMb: Number(kb) / 1024, ownPeakMb: Number(kb) / 1024 };
}

function busySeconds(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
}
