import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../../shared/common/errors.ts';

const limitMs = 120_000;
const againMs = 500;

/**
 * Repeats a read, or a write of a value that was read, while the database is away. A proxy on a busy machine can be
 * away for a moment even after the last fault.
 */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (const since = performance.now(); ; await sleep(againMs)) {
    try {
      return await ask();
    } catch (error) {
      const isAway = error instanceof Problem && error.code === 'service_unavailable';
      if (!isAway || performance.now() - since > limitMs) throw error;
    }
  }
}
