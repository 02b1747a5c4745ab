import { openPoolOf, type Pool, type PoolProgram } from '../../shared/sandbox/pool.ts';

const runs = { short: { kill: 60_000 }, full: { kill: 60_000 } };

/** Opens a pool for tests of the memory limit. Memory may fill slowly, so no time limit may end a render first. */
export const openPatientPool = (spares: number, start: PoolProgram['start']): Pool =>
  openPoolOf(1, {
    name: 'liquid',
    start,
    spares,
    waitMs: 60_000,
    runs,
    words: { 'out of time': 'time', 'out of memory': 'memory', crash: 'crash' },
  });
