import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects the garbage and returns the memory that this process still uses. */
export function keptMemory(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  // The second collection may free array buffers that the first one found unused.
  collect();
  return process.memoryUsage();
}
