import type { Latency } from './statistics.ts';
import type { Window } from './usage.ts';
import type { World } from './world.ts';

/** One row of the design's table of speeds: the measured work, and the sides that it is compared with. */
export interface Line {
  name: string;
  title: string;
  /** The name of the counted things, as in a rate of them: `emails`. */
  unit: string;
  /** The least ratio to a side, by the name of that side. */
  targets: Record<string, number>;
  /** The most that the platform's p99 may be, as a multiple of a side's, by the name of that side. */
  p99AtMost?: Record<string, number>;
  /** The most that each figure of the platform may be, by its name. */
  atMost?: Record<string, number>;
  /** The most memory that a process may hold of its own, in MB, if it differs from the general limit (result.ts). */
  memoryAtMost?: Record<string, number>;
  /** How to compare two commits if the line itself sets the pace, so that the rates are equal. */
  comparedBy?: 'rate' | 'p50' | 'cpu';
  notes: readonly string[];
  open(bench: Bench): Promise<Opened>;
}

export interface Bench {
  world: World;
  /** 1 is full size. */
  scale: number;
  /** Where to write profiles of the measured processes; none: no profile. */
  profileFolder: string | undefined;
}

/** The lasting parts of the line (customer, sink, receiver) are running; sides can be run in any order. */
export interface Opened {
  /** The platform first. */
  sides: Side[];
  close: () => Promise<void>;
}

export interface Side {
  name: string;
  /** Its description in the table. */
  title: string;
  /** Makes one run from an empty database, and counts and checks it. Rejects when anything is missing or wrong. */
  run(): Promise<Run>;
}

export const side = (name: string, title: string, run: Side['run']): Side => ({ name, title, run });

/** Tells whether a side has nothing of the platform. */
export const isBare = ({ name }: Pick<Side, 'name'>): boolean => /^bare\b/.test(name);

export interface Run {
  count: number;
  window: Window;
  latency?: Latency;
  /** All other measured values, by a name that ends with its unit. */
  figures?: Record<string, number>;
  /** The sent or stored content in short form. It must be equal for all sides. */
  content: string;
}

/** A count or a content that is not what it must be: the run says nothing about speed. */
export class Mismatch extends Error {}

export function checkEqual(what: string, actual: unknown, expected: unknown): void {
  const [is, must] = [actual, expected].map((value) => JSON.stringify(value));
  if (is !== must) throw new Mismatch(`${what}: ${is}, and must be ${must}`);
}

/** Compares long texts, and shows where they differ. */
export function checkSame(what: string, one: string, other: string): void {
  if (one === other) return;
  const length = Math.min(one.length, other.length);
  let at = 0;
  while (at < length && one[at] === other[at]) at += 1;
  const [here, there] = [one, other].map((text) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 40)));
  throw new Mismatch(`${what} differs: ${here} and ${there}`);
}
