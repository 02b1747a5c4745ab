import type { Question } from './ask.ts';
import type { Item, Ledger, Operation } from './ledger.ts';
import type { Random } from './types.ts';
import type { Customer } from './workspaces.ts';

export type Times = { startedMs: number; answeredMs: number };

/** A request to be made. Its choices are drawn from a stream of its own, so what one of them needs moves no other. */
export type Planned = Question & {
  operation: Operation;
  customer: number;
  /** Codes of problems that are an answer like any other here. */
  mayRefuse: readonly string[];
  /** Called with the body of the first 2xx answer. */
  accepted?: (body: any, times: Times) => void;
  /** Called when it is over; null: without an answer to the end. Repeated: what came of an earlier try nobody knows. */
  settled?: (status: number | null, isRepeated: boolean) => void;
  /** How many times it is made at once. */
  twins: 1 | 2;
  /** After its answer it is made again after so long, to get the same one; null: it is not. */
  replayAfterMs: number | null;
};

/** Things accepted of late, for requests that need a record. */
export type Recent = {
  items: Item[];
  requests: Planned[];
  suppressed: { kind: 'email' | 'number'; address: string; scope: string }[];
};

const keepRecent = 300;

export function remember<T>(list: T[], entry: T): void {
  list.push(entry);
  if (list.length > keepRecent) list.splice(0, keepRecent / 3);
}

export type Scene = {
  random: Random;
  ledger: Ledger;
  customer: Customer;
  others: Customer[];
  recent: Recent;
  key: string;
  /** To ask for this later, at a time by Date.now(). */
  later: (atMs: number, planned: Planned) => void;
};

export function planned(scene: Scene, operation: Operation, question: Partial<Planned>): Planned {
  return {
    operation,
    customer: scene.customer.index,
    method: 'GET',
    path: '',
    key: scene.customer.key,
    mayRefuse: [],
    twins: 1,
    replayAfterMs: null,
    ...question,
  };
}

/** Some are made twice at once, and some again later. */
export function repeats(random: Random): Pick<Planned, 'twins' | 'replayAfterMs'> {
  const [twin, again, after] = [random(), random(), random()];
  return {
    twins: twin < 0.03 ? 2 : 1,
    replayAfterMs: again < 0.08 ? Math.round(200 + after * 12_000) : null,
  };
}
