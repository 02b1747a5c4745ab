import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const mount = '/dev/shm';
const neededBytes = 3 * 1024 ** 3;
// The files count as memory, of which the tests themselves want some.
const neededMemoryBytes = 6 * 1024 ** 3;

/**
 * A folder in memory for data that a run throws away, always the same for `folder`, so that the next run finds what a
 * killed one left; undefined where the machine has none with room. It goes with this process.
 */
export function memoryDisk(folder: string): string | undefined {
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 12);
  const disk = path.join(mount, `messaging-service-${name}`);
  try {
    fs.rmSync(disk, { recursive: true, force: true });
    const { bavail, bsize } = fs.statfsSync(mount);
    if (bavail * bsize < neededBytes || availableMemoryBytes() < neededMemoryBytes) return undefined;
    fs.mkdirSync(disk, { mode: 0o700 });
  } catch {
    return undefined;
  }
  process.on('exit', () => fs.rmSync(disk, { recursive: true, force: true }));
  return disk;
}

/** Of Linux: what can be had without swapping. */
function availableMemoryBytes(): number {
  const [, kilobytes] = /^MemAvailable:\s+(\d+) kB/m.exec(fs.readFileSync('/proc/meminfo', 'utf8')) ?? [];
  return Number(kilobytes ?? 0) * 1024;
}
