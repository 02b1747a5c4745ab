/** What the cage and its threads say to each other. Another kind of work (MJML) is another member of ThreadJob. */
export type LiquidJob = {
  kind: 'liquid';
  parts: { source: string; escape: boolean }[];
  /** JSON text: cheaper to hand over than objects, and nothing but JSON can arrive. */
  data: string;
  now: number;
};
export type ThreadJob = LiquidJob;

/** A short run is stopped early, so that it can be told from a long one before it holds others up. */
export type Run = 'short' | 'full';
export type Batch = { run: Run; jobs: ThreadJob[] };

export type PartFault = { part: number; message: string; line?: number; column?: number };
export type ThreadResult =
  | { outcome: 'done'; outputs: string[]; milliseconds: number }
  | { outcome: 'failed'; faults: PartFault[]; outOfTime: boolean; milliseconds: number };

/**
 * Shared memory, because a thread that is stuck answers no message: how many jobs it has begun and ended since it
 * started, and which part of the job it is at.
 */
export const marks = { begun: 0, ended: 1, part: 2, length: 3 } as const;

/** CPU time that a thread allows a render, and the time after which the cage kills the thread: in milliseconds. */
export const runs = {
  short: { stop: 30, kill: 60 },
  full: { stop: 100, kill: 250 },
} as const satisfies Record<Run, { stop: number; kill: number }>;
