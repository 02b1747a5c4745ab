/** What the cage and its threads say to each other. */
export type LiquidJob = {
  kind: 'liquid';
  parts: { source: string; escape: boolean }[];
  /** JSON text: cheaper to hand over than objects, and nothing but JSON can arrive. Null: the parts are only parsed. */
  data: string | null;
  now: number;
};
/** Its one output is the HTML; it has none where Liquid must be rendered first. */
export type MjmlJob = { kind: 'mjml'; source: string; isTemplate: boolean };
/** Its one output is JSON. */
export type MailJob = {
  kind: 'mail';
  raw: Uint8Array;
  /** Only what is signed with one of these keys is read. */
  signed?: { keys: ReadonlyMap<string, readonly string[]>; at: Date };
};
export type ThreadJob = LiquidJob | MjmlJob | MailJob;

/** A short run is stopped early, so that it can be told from a long one before it holds others up. */
export type Run = 'short' | 'full';
export type Batch = { run: Run; jobs: ThreadJob[] };

/** `parsing`: whatever the data, the source is wrong. */
export type PartFault = { part: number; message: string; line?: number; column?: number; parsing?: true };
/** `milliseconds` of CPU time: what others on the machine do is not a workspace's fault. */
export type ThreadResult =
  | { outcome: 'done'; outputs: string[]; milliseconds: number }
  | { outcome: 'failed'; faults: PartFault[]; outOfTime: boolean; milliseconds: number };

type WithoutTime<T> = T extends unknown ? Omit<T, 'milliseconds'> : never;
export type Unmeasured = WithoutTime<ThreadResult>;

/**
 * Shared memory, because a thread that is stuck answers no message: how many jobs it has begun and ended since it
 * started, which part of the job it is at, and the CPU time that it had had when it began.
 */
export type Marks = { counts: Int32Array; cpuMs: Float64Array };
export const marks = { begun: 0, ended: 1, part: 2 } as const;
export const marksBytes = 24;
export function marksIn(shared: SharedArrayBuffer): Marks {
  return { counts: new Int32Array(shared, 8, 4), cpuMs: new Float64Array(shared, 0, 1) };
}

/** CPU time in milliseconds after which a render is stopped, and after which its thread is killed. */
export const runs = {
  short: { stop: 20, kill: 50 },
  full: { stop: 100, kill: 250 },
} as const satisfies Record<Run, { stop: number; kill: number }>;

/** The same for mail. It takes a few milliseconds to read; only a check of signatures can be made to take long. */
export const mailRuns = {
  short: { kill: 100 },
  full: { kill: 300 },
} as const satisfies Record<Run, { kill: number }>;

/** The same for MJML, which cannot be stopped from within. */
export const mjmlRuns = {
  short: { kill: 500 },
  full: { kill: 1500 },
} as const satisfies Record<Run, { kill: number }>;
