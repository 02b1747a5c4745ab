import type { Copy } from './copies.ts';
import type { Feed } from './feed.ts';
import type { InjectedFault } from './types.ts';
import type { Customer } from './workspaces.ts';

/** The customers' knowledge: their requests and the answers, what came to their servers, what their feeds said. */

export type Operation =
  | 'send email'
  | 'send text'
  | 'cancel'
  | 'suppress'
  | 'import contacts'
  | 'read'
  | 'read another workspace'
  | 'reuse a key';

export type Counts = {
  /** First 2xx answers. */
  accepted: number;
  /** Refused for good, as it should be: a limit, a suppressed number, nothing to cancel. */
  refused: number;
  /** Requests again, after no answer, a 429, a 5xx or a 409 idempotency_in_progress. */
  repeated: number;
  /** Answers that were given again, as asked for. */
  replayed: number;
  /** Without an answer to the end. */
  unknown: number;
};

/** A request with an Idempotency-Key, whatever became of it. */
export type Request = {
  key: string;
  operation: Operation;
  customer: number;
  startedMs: number;
  answeredMs: number | null;
  /** Null while there is none that is final. */
  status: number | null;
  /** `code` of a problem. */
  code: string | null;
  /** Of the 2xx answers' status, Location and body bytes. More than one: they were not all the same. */
  hashes: string[];
};

/** A message that a 2xx answer promised. */
export type Item = {
  id: string;
  kind: 'email' | 'sms';
  customer: number;
  /** Its Idempotency-Key and clientReference. */
  key: string;
  recipient: string;
  startedMs: number;
  acceptedMs: number;
  /** The platform's time; null: at once. */
  scheduledMs: number | null;
  /** The recipient had been suppressed, and that been answered, before the request began. */
  isToSuppressed: boolean;
  parts: number;
  /** The final answer to the cancellation, if one was asked for; null: none came, or one that leaves it open. */
  cancelled?: { status: number | null };
  /** As it was read last. */
  seen?: { status: string; updatedMs: number; openCount: number; answeredMs: number };
};

export type Ledger = {
  startedMs: number;
  customers: Customer[];
  counts: Map<Operation, Counts>;
  requests: Map<string, Request>;
  items: Map<string, Item>;
  /** Of emails, by the reference in their subject. */
  copies: Map<string, Copy[]>;
  /** By customer. */
  feeds: Feed[];
  /** When the whole machine gave nobody time, by our own timer: a worker's lease can have ended meanwhile. */
  stalls: InjectedFault[];
  /** Why requests were repeated: operation, status and code, with how often. */
  repeats: Map<string, number>;
  /** Answers that no caller should ever get, and records that read older than before. */
  oddAnswers: { operation: Operation | 'went back'; text: string }[];
};

export function openLedger(customers: Customer[], feeds: Feed[]): Ledger {
  return {
    startedMs: Date.now(),
    customers,
    counts: new Map(),
    requests: new Map(),
    items: new Map(),
    copies: new Map(),
    feeds,
    stalls: [],
    repeats: new Map(),
    oddAnswers: [],
  };
}

export function countsOf(ledger: Ledger, operation: Operation): Counts {
  const known = ledger.counts.get(operation);
  if (known) return known;
  const counts = { accepted: 0, refused: 0, repeated: 0, replayed: 0, unknown: 0 };
  ledger.counts.set(operation, counts);
  return counts;
}

export function keepCopy(ledger: Ledger, copy: Copy): void {
  const known = ledger.copies.get(copy.reference);
  if (known) known.push(copy);
  else ledger.copies.set(copy.reference, [copy]);
}

// A fault in the platform can make a great many of them, and a few say it.
const mostOdd = 200;

export function keepOdd(ledger: Ledger, operation: Operation | 'went back', text: string): void {
  if (ledger.oddAnswers.length < mostOdd) ledger.oddAnswers.push({ operation, text });
}

/** Copies that the recipient's server took, as far as it could tell the sender. */
export const isTaken = ({ answer }: Copy): boolean => answer === 250 || answer === null;
