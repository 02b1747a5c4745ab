import { isTaken } from './ledger.ts';
import type { InjectedFault, Ledger, Receivers, Rows } from './types.ts';

/** A second copy of an email, or a delivery that was accepted again. */
type Duplicate = {
  what: 'email' | 'delivery';
  id: string;
  atMs: number;
  /** The fault nearest before it that can have made it; null: there is none. */
  cause: Pick<InjectedFault, 'kind' | 'target'> | null;
};

/** A message on its way when a fault ended comes a while later, on a busy machine. */
const slackMs = 5_000;
/** A process that ends in order finishes what it has in hand. */
const harmless = ['SIGTERM', 'wrong clock'];

/**
 * A part disturbed between the first copy and the second can have made it: the worker that hands it over, the line
 * that the answer came by, or the database that could not be told of it.
 */
const suspects = {
  email: /^(worker(?!_)|worker_email|mysql|smtp)/,
  delivery: /^(worker(?!_)|worker_webhooks|mysql)/,
};

/**
 * The platform noted that it had no answer in time, as happens on a busy machine: for it the attempt failed, and the
 * next was due.
 */
export const late = { kind: 'answer too late', target: 'our own servers' };

type Times = { firstMs: number; atMs: number };

function causeOf(what: Duplicate['what'], { firstMs, atMs }: Times, faults: readonly InjectedFault[]) {
  const able = faults.filter(
    (fault) =>
      suspects[what].test(fault.target) &&
      !harmless.includes(fault.kind) &&
      fault.atMs <= atMs &&
      fault.atMs + fault.lastedMs >= firstMs - slackMs,
  );
  return able.toSorted((one, other) => other.atMs - one.atMs)[0] ?? null;
}

export function duplicatesOf(
  ledger: Ledger,
  { received }: Pick<Receivers, 'received'>,
  faults: readonly InjectedFault[],
  rows: Pick<Rows, 'emails' | 'deliveries'>,
): Duplicate[] {
  const found: Duplicate[] = [];
  const all = [...faults, ...ledger.stalls];
  const add = (what: Duplicate['what'], id: string, times: number[], isNoted: () => boolean) => {
    const [firstMs, ...others] = times.toSorted((one, other) => one - other);
    for (const atMs of others) {
      const cause = causeOf(what, { firstMs: firstMs!, atMs }, all);
      found.push({ what, id, atMs, cause: cause ?? (isNoted() ? late : null) });
    }
  };
  for (const [reference, copies] of ledger.copies) {
    const taken = copies.filter(isTaken).map(({ atMs }) => atMs);
    add('email', reference, taken, () => isUncertain(rows, copies[0]!.messageId));
  }
  for (const [id, { attempts }] of received) {
    const accepted = attempts.filter(({ status }) => status === 200).map(({ atMs }) => atMs);
    // A reset line may be a stale one, which is tried again within the same attempt.
    const answered = attempts.filter(({ status }) => status !== null).length;
    add('delivery', id, accepted, () => (rows.deliveries.get(id)?.attempts ?? 0) >= answered);
  }
  return found;
}

/** After a kill it is uncertain too, but not for a retry. */
function isUncertain({ emails }: Pick<Rows, 'emails'>, messageId: string): boolean {
  const row = emails.get(/^<(\w+)@/.exec(messageId)?.[1] ?? '');
  return row !== undefined && row.uncertainCount > 0 && row.retries > 0;
}

/** For the summary: how many second copies by kind and target of their cause. */
export function duplicatesByCause(duplicates: readonly Duplicate[]): Map<string, number> {
  const names = duplicates.map(({ what, cause }) =>
    cause ? `${what}: ${cause.kind}, ${cause.target.replace(/-\d+$/, '')}` : `${what}: unexplained`,
  );
  return new Map([...Map.groupBy(names, (name) => name)].map(([name, same]) => [name, same.length]));
}
