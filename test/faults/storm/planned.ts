import type { Question } from './ask.ts';
import type { Item, Ledger, Operation } from './ledger.ts';
import type { Random } from './types.ts';
import type { Customer } from './workspaces.ts';

export type Times = { startedMs: number; answeredMs: number };

/** A request to be made. Each request has a random stream of its own, so its draws do not change other requests. */
export type Planned = Question & {
  operation: Operation;
  customer: number;
  /** Codes of problems that are an expected answer. */
  mayRefuse: readonly string[];
  /** Called with the body of each 2xx answer, repeated ones too. */
  accepted?: (body: any, times: Times) => void;
  /** Called at the end; `status` null: no final answer came. `isRepeated`: the effect of an earlier try is unknown. */
  settled?: (status: number | null, isRepeated: boolean) => void;
  /** How many times the request is sent at the same time. */
  twins: 1 | 2;
  /** How long after its answer the request is sent again, to get the same answer; null: never. */
  replayAfterMs: number | null;
};

/** The latest accepted things, for requests that need a record. */
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
  /** Plans a request for a later time, by Date.now(). */
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

/** Draws whether a request is sent twice at once, and whether it is sent again later. */
export function repeats(random: Random): Pick<Planned, 'twins' | 'replayAfterMs'> {
  const [twin, again, after] = [random(), random(), random()];
  return {
    twins: twin < 0.03 ? 2 : 1,
    replayAfterMs: again < 0.08 ? Math.round(200 + after * 12_000) : null,
  };
}
