import { isTaken } from './ledger.ts';
import type { InjectedFault, Ledger, Receivers, Rows } from './types.ts';

/** A second copy of an email, or a delivery that was accepted again. */
type Duplicate = {
  what: 'email' | 'delivery';
  id: string;
  atMs: number;
  /** The last fault before it that can explain it; null if there is none. */
  cause: Pick<InjectedFault, 'kind' | 'target'> | null;
};

/** On a busy machine, a message that is under way at the end of a fault arrives up to this long after it. */
const slackMs = 5_000;
/**
 * These faults explain no second copy: a process that stops in order finishes its work, and one without Redis knows by
 * its rows what it has claimed.
 */
const harmless = ['SIGTERM', 'wrong clock', 'cut off from Redis'];
/**
 * These faults of MySQL explain none either: a worker that is alive writes the outcome as soon as MySQL is back. After
 * `freeze` and `slow` its write may arrive after another worker's claim, so they do explain one.
 */
const harmlessOfMysql = ['cut', 'refuse', 'read only', 'lost at COMMIT', 'kill -9 of the server'];

/**
 * Targets whose fault between the two copies can explain the second one: the worker that hands the message over, the
 * connection for its answer, or the database that stores the outcome.
 */
const suspects = {
  email: /^(worker(?!_)|worker_email|mysql|smtp)/,
  delivery: /^(worker(?!_)|worker_webhooks|mysql)/,
};

/**
 * The cause where the platform itself noted that an answer did not come in time, as happens on a busy machine. The
 * attempt then failed for the platform, and a retry was due.
 */
export const late = { kind: 'answer too late', target: 'our own servers' };

type Times = { firstMs: number; atMs: number };

function causeOf(what: Duplicate['what'], { firstMs, atMs }: Times, faults: readonly InjectedFault[]) {
  const able = faults.filter(
    (fault) =>
      suspects[what].test(fault.target) &&
      !harmless.includes(fault.kind) &&
      !(fault.target === 'mysql' && harmlessOfMysql.includes(fault.kind)) &&
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
    // Requests without an answer do not count: after a reset of a stale connection the same attempt sends another one.
    const answered = attempts.filter(({ status }) => status !== null).length;
    add('delivery', id, accepted, () => (rows.deliveries.get(id)?.attempts ?? 0) >= answered);
  }
  return found;
}

/** Returns whether a retry after an uncertain outcome is noted. A kill makes the outcome uncertain without a retry. */
function isUncertain({ emails }: Pick<Rows, 'emails'>, messageId: string): boolean {
  const row = emails.get(/^<(\w+)@/.exec(messageId)?.[1] ?? '');
  return row !== undefined && row.uncertainCount > 0 && row.retries > 0;
}

/** Counts the second copies by kind and target of their cause, for the summary. */
export function duplicatesByCause(duplicates: readonly Duplicate[]): Map<string, number> {
  const names = duplicates.map(({ what, cause }) =>
    cause ? `${what}: ${cause.kind}, ${cause.target.replace(/-\d+$/, '')}` : `${what}: unexplained`,
  );
  return new Map([...Map.groupBy(names, (name) => name)].map(([name, same]) => [name, same.length]));
}
