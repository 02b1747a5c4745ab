import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const mount = '/dev/shm';
const neededBytes = 3 * 1024 ** 3;
// The files use memory, and the tests need memory too.
const neededMemoryBytes = 6 * 1024 ** 3;

/**
 * Returns a folder in memory for data that a run throws away; undefined when the machine has none with enough room.
 * The name depends only on `folder`, so that the next run finds the folder of a killed one. The folder is removed
 * when this process ends.
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

/** Returns the memory that Linux can give without swapping. */
function availableMemoryBytes(): number {
  const [, kilobytes] = /^MemAvailable:\s+(\d+) kB/m.exec(fs.readFileSync('/proc/meminfo', 'utf8')) ?? [];
  return Number(kilobytes ?? 0) * 1024;
}
