import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../../shared/common/errors.ts';

const limitMs = 120_000;
const againMs = 500;

/**
 * The way to the database may be away for a moment after the last fault, too, where a proxy on a busy machine is part of
 * it: what only reads, or sets what it has read, is then asked again.
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
