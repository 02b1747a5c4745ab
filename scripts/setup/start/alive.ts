import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

const isLinux = process.platform === 'linux';

/**
 * Tells whether a process is alive; a negative pid means its group. Ended orphans that nobody collects, as in many
 * containers, do not count.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isLinux || runningPids(pid).length > 0;
}

function runningPids(pid: number): string[] {
  const candidates = pid > 0 ? [String(pid)] : fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return candidates.filter((name) => {
    const { state, group } = stat(name);
    return state !== undefined && !'ZX'.includes(state) && (pid > 0 || group === String(-pid));
  });
}

/**
 * Returns when a process was started, in the system's own format. With its number this identifies a process for ever.
 */
export function birth(pid: number): string {
  if (!isAlive(pid)) return '';
  if (isLinux) return stat(String(pid)).startedAt ?? '';
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/** Tells whether a number still belongs to the process that was started then. */
export const isStill = (pid: number, born: string): boolean => born !== '' && birth(pid) === born;

function stat(pid: string): {
  state: string | undefined;
  group: string | undefined;
  startedAt: string | undefined;
} {
  try {
    // pid (name) state parent group …, start time as field 22; the name may hold anything, brackets too.
    const fields = fs
      .readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return { state: fields[0], group: fields[2], startedAt: fields[19] };
  } catch {
    return { state: undefined, group: undefined, startedAt: undefined };
  }
}
