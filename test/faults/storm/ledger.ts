import type { Batch } from './batches.ts';
import type { Copy } from './copies.ts';
import type { Feed } from './feed.ts';
import type { InjectedFault } from './types.ts';
import type { Customer } from './workspaces.ts';

/** All that the customers know: their requests with the answers, the arrivals at their servers, and their feeds. */

export type Operation =
  | 'send email'
  | 'send text'
  | 'send batch'
  | 'cancel'
  | 'suppress'
  | 'import contacts'
  | 'read'
  | 'read another workspace'
  | 'reuse a key';

export type Counts = {
  /** First 2xx answers. */
  accepted: number;
  /** Final refusals, as expected: a limit, a suppressed number, nothing to cancel. */
  refused: number;
  /** Requests repeated after no answer, a 429, a 5xx or a 409 idempotency_in_progress. */
  repeated: number;
  /** 2xx answers to a request that already had one. */
  replayed: number;
  /** Requests that were given up without a final answer. */
  unknown: number;
};

/** A request with an Idempotency-Key, with or without an answer. */
export type Request = {
  key: string;
  operation: Operation;
  customer: number;
  startedMs: number;
  answeredMs: number | null;
  /** Null until there is a final answer. */
  status: number | null;
  /** `code` of a problem. */
  code: string | null;
  /** Hashes of the status, Location and body bytes of the 2xx answers. More than one: the answers differed. */
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
  /** The suppression of the recipient was answered before the request began. */
  isToSuppressed: boolean;
  parts: number;
  /** The final answer to the cancellation, if one was requested; null: none came, or one that leaves it open. */
  cancelled?: { status: number | null };
  /** The state at the last read. */
  seen?: { status: string; updatedMs: number; openCount: number; answeredMs: number };
};

export type Ledger = {
  startedMs: number;
  customers: Customer[];
  counts: Map<Operation, Counts>;
  requests: Map<string, Request>;
  items: Map<string, Item>;
  batches: Map<string, Batch>;
  /** Copies of emails, by the reference in their subject. */
  copies: Map<string, Copy[]>;
  /** By customer. */
  feeds: Feed[];
  /** Times when our own timer stood still, and so did the whole machine: a worker's lease may have ended meanwhile. */
  stalls: InjectedFault[];
  /** Why requests were repeated: operation, status and code, with how often. */
  repeats: Map<string, number>;
  /** Answers that no caller should ever get, and reads of a record that are older than the read before. */
  oddAnswers: { operation: Operation | 'went back'; text: string }[];
};

export function openLedger(customers: Customer[], feeds: Feed[]): Ledger {
  return {
    startedMs: Date.now(),
    customers,
    counts: new Map(),
    requests: new Map(),
    items: new Map(),
    batches: new Map(),
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

// A fault in the platform can cause very many odd answers, and a few are enough to report it.
const mostOdd = 200;

export function keepOdd(ledger: Ledger, operation: Operation | 'went back', text: string): void {
  if (ledger.oddAnswers.length < mostOdd) ledger.oddAnswers.push({ operation, text });
}

/** Returns whether the recipient's server accepted the copy, or gave no answer. */
export const isTaken = ({ answer }: Copy): boolean => answer === 250 || answer === null;
