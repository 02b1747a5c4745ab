import { startWorkers } from '../../../workers/main.ts';
import { atEnd } from '../runner/at-end.ts';

/** Starts workers in this process for the jobs of these names (default: all). They stop when the test file ends. */
export async function runWorkers(names?: string[]): Promise<{ stop: () => Promise<void> }> {
  const workers = await startWorkers(names);
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= workers.stop());
  atEnd(stop);
  return { stop };
}
