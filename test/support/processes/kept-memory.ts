import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The memory of this process that is still in use, without the garbage. */
export function keptMemory(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  // Array buffers that the first found unused may be freed by the next.
  collect();
  return process.memoryUsage();
}
