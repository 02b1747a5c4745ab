/** The limits of one render, beyond those that liquidjs counts itself. */
export const limits = {
  /** CPU time to parse a part, and to render all parts of a request. */
  milliseconds: 100,
  /** Largest source and largest output of a part. */
  partBytes: 1024 * 1024,
  /** A parsed tag takes about 1 kB; and liquidjs shifts its list of tokens, which is slow from 16,000 on. */
  tags: 8_000,
} as const;

/**
 * V8 aborts the whole process, not the thread, when one allocation overshoots a thread's heap limit by more than 16 MB.
 * So no single value may come near that, and the sum stays well below the limit of the thread.
 */
const largestUse = 1_250_000;
const totalUse = 5_000_000;
const heaviestValue = 2_000_000;

/** A refusal with words for the author of the template; any other error comes from liquidjs or V8. */
export class LimitError extends Error {
  override name = 'LimitError';
  /** More time would help; more memory or output would not. */
  readonly outOfTime: boolean;
  constructor(message: string, outOfTime = false) {
    super(message);
    this.outOfTime = outOfTime;
  }
}

export const tooLong = 'renders to more than 1 MiB';
export const tooHeavy = 'needs more than 10 MB';
export const tooSlow = `takes longer than ${limits.milliseconds} ms to render`;

/**
 * Tells whether a part's source or output is too long. The length alone almost always decides, since a character
 * takes 1 to 3 bytes.
 */
export function isTooLong(text: string): boolean {
  if (text.length * 3 <= limits.partBytes) return false;
  return text.length > limits.partBytes || Buffer.byteLength(text) > limits.partBytes;
}

export type TimeLimit = { check(now: number): void };
export type MemoryLimit = { use(count: number): void };

/** CPU time that this thread has had. */
export const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/**
 * Counts CPU time of this thread, so that a busy machine fails no innocent template. Looks at the wall clock first,
 * because that is cheap and liquidjs checks at every node.
 */
export function limitTime(milliseconds: number): TimeLimit {
  const start = cpuMs();
  let next = performance.now() + milliseconds;
  return {
    check(now) {
      if (now <= next) return;
      const left = milliseconds - (cpuMs() - start);
      if (left <= 0) throw new LimitError(tooSlow, true);
      next = now + Math.max(left, 1);
    },
  };
}

/** A unit is a character of a string or an element of an array, so 1 to 8 bytes. */
export function limitMemory(): MemoryLimit {
  let used = 0;
  return {
    use(count) {
      // liquidjs also reports negative counts and NaN.
      if (!(count > 0)) return;
      used += count;
      if (count > largestUse || used > totalUse) throw new LimitError(tooHeavy);
    },
  };
}

const weights = new WeakMap<object, number>();

/**
 * Returns about how long `value` is when printed. Arrays can contain one another many times, so that 30 nested pushes
 * would print 2^30 elements. Stored weights make it unnecessary to walk through them. A value does not change after it
 * is made, so its weight stays right.
 */
function weigh(value: unknown): number {
  if (typeof value === 'string') return value.length + 8;
  if (typeof value !== 'object' || value === null) return 8;
  let weight = weights.get(value);
  if (weight === undefined) {
    weight = 16;
    if (Array.isArray(value)) for (const item of value) weight += weigh(item);
    else for (const [name, item] of Object.entries(value)) weight += name.length + weigh(item);
    weights.set(value, weight);
  }
  return weight;
}

/**
 * Throws for a value that is too heavy. Every value that a template makes passes through here, so the cost of printing
 * or comparing it is bounded.
 */
export function refuseHeavy<T>(value: T): T {
  if (weigh(value) > heaviestValue) throw new LimitError(tooHeavy);
  return value;
}
