import v8 from 'node:v8';
import vm from 'node:vm';

const collectEveryBytes = 8 * 1024 * 1024;

let passed = 0;
let collectYoung: (() => void) | undefined;

/**
 * To be told of bytes that pass through buffers in large numbers. To the collector such a buffer is a small object, so by
 * itself it would let about 100 MB of them pile up; this collects those that are over, in a millisecond or two.
 */
export function notePassing(bytes: number): void {
  passed += bytes;
  if (passed < collectEveryBytes) return;
  passed = 0;
  collectYoung ??= exposeCollector();
  collectYoung();
}

function exposeCollector(): () => void {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as (options: { type: 'minor' }) => void;
  return () => collect({ type: 'minor' });
}
