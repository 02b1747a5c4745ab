/** The messages between the sandbox and its threads. */
export type LiquidJob = {
  kind: 'liquid';
  parts: { source: string; escape: boolean }[];
  /** JSON text: cheaper to hand over than objects, and nothing but JSON can arrive. Null: the parts are only parsed. */
  data: string | null;
  now: number;
};
/** Rows of data for few sources. Each row is rendered by itself; the data that all share is sent to the thread once. */
export type RowsJob = {
  kind: 'rows';
  sources: readonly { source: string; escape: boolean }[];
  /** JSON text of an object. The members of a row override these. */
  shared: string;
  /** `source`: its index. `data`: JSON text of an object. */
  rows: readonly { source: number; data: string }[];
  now: number;
};
/** The job's only output is the HTML. There is no output if Liquid must be rendered first. */
export type MjmlJob = { kind: 'mjml'; source: string; isTemplate: boolean };
/** The job's only output is JSON. */
export type MailJob = {
  kind: 'mail';
  raw: Uint8Array;
  /** If set, the job reads only the part that one of these keys has signed. */
  signed?: { keys: ReadonlyMap<string, readonly string[]>; at: Date };
};
export type ThreadJob = LiquidJob | RowsJob | MjmlJob | MailJob;

/** A short run is stopped early, so that a slow job is found before it holds others up. */
export type Run = 'short' | 'full';
export type Batch = { run: Run; jobs: ThreadJob[] };

/** `parsing`: the source is wrong, whatever the data. `inData`: the data is wrong, whatever the source. */
export type PartFault = {
  part: number;
  message: string;
  line?: number;
  column?: number;
  parsing?: true;
  inData?: true;
};
/**
 * `milliseconds` is CPU time, because other load on the machine is not the workspace's fault. A job of rows has an
 * output for each finished row, from the first row on. `faults` names the failed rows; their outputs mean nothing.
 */
export type ThreadResult =
  | { outcome: 'done'; outputs: string[]; faults?: PartFault[]; outOfTime?: true; milliseconds: number }
  | { outcome: 'failed'; faults: PartFault[]; outOfTime: boolean; milliseconds: number };

type WithoutTime<T> = T extends unknown ? Omit<T, 'milliseconds'> : never;
export type Unmeasured = WithoutTime<ThreadResult>;

/**
 * Shared memory, because a thread that is stuck answers no message. `begun` and `ended` count the jobs since the
 * thread started, where each row of a job counts as one. `job` and `part` name the current job of the batch and its
 * part. `systemId` is the id that the system has given to the thread (0: unknown). `cpuMs` is the CPU time that the
 * thread had when it began the current job.
 */
export type Marks = { counts: Int32Array; cpuMs: Float64Array };
export const marks = { begun: 0, ended: 1, part: 2, job: 3, systemId: 4 } as const;
export const marksBytes = 28;
export function marksIn(shared: SharedArrayBuffer): Marks {
  return { counts: new Int32Array(shared, 8, 5), cpuMs: new Float64Array(shared, 0, 1) };
}

/** CPU time in milliseconds after which a render is stopped, and after which its thread is killed. */
export const runs = {
  short: { stop: 20, kill: 50 },
  full: { stop: 100, kill: 250 },
} as const satisfies Record<Run, { stop: number; kill: number }>;

/** The same for mail. Reading mail takes a few milliseconds; only a check of signatures can be made to take long. */
export const mailRuns = {
  short: { kill: 100 },
  full: { kill: 300 },
} as const satisfies Record<Run, { kill: number }>;

/** The same for MJML, which cannot be stopped from within. */
export const mjmlRuns = {
  short: { kill: 500 },
  full: { kill: 1500 },
} as const satisfies Record<Run, { kill: number }>;

/**
 * Limits of one message to a thread: the CPU time in milliseconds after which no further row begins, and how much is
 * sent at once.
 */
export const crossing = { stop: 10, rows: 500, length: 1024 * 1024, outputLength: 1024 * 1024 } as const;
