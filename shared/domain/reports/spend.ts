import { now } from '../../common/clock.ts';
import type { FieldErrors } from '../../common/errors.ts';
import { throwAny, type Usable } from '../../common/faults.ts';
import { findLedgerTotals } from '../../db/sms/ledger-sums.ts';
import { moneyText } from '../../formats/money.ts';
import type { ReportFilter } from '../../schemas/reports.ts';
import type { SpendQuery, Spend as SpendRecord } from '../../schemas/workspace.ts';
import { limited } from './limiter.ts';
import { timeOf } from './pieces.ts';
import { faultsOf as rangeFaultsOf, rangeOf } from './range.ts';
import { type SpendSums, spendBy, spendTotal } from './spend-rows.ts';

/** Returns the faults for which `find` would refuse a request. Skips parameters of the wrong shape. */
export function faultsOf(query: Usable<SpendQuery>): FieldErrors {
  const { month, ...bounds } = query;
  const faults = rangeFaultsOf({ ...(bounds as Usable<ReportFilter>), timeZone: 'UTC' });
  const isTwice = month !== undefined && ('from' in query || 'to' in query);
  return isTwice ? { month: ['cannot be combined with from or to'], ...faults } : faults;
}

/**
 * Returns the spend of a workspace on text messages: by the texts that were accepted in that time, and by the ledger
 * of its balance. Both count by the hour: a bound within an hour is rounded down.
 */
export async function find(owner: { workspaceId: string }, query: SpendQuery): Promise<SpendRecord> {
  throwAny(faultsOf(query));
  return limited(owner.workspaceId, () => findForOperator(owner, query));
}

/** Does the same without the limits of a workspace's reports: an operator looks when its customer uses them up. */
export async function findForOperator(
  { workspaceId }: { workspaceId: string },
  query: SpendQuery,
): Promise<SpendRecord> {
  const { month, from, to } = query;
  const bounds = month || (!from && !to) ? monthOf(month ?? now().toISOString().slice(0, 7)) : { from, to };
  const range = rangeOf({ ...bounds, timeZone: 'UTC' });
  const [start, end] = [timeOf(range.from), timeOf(range.to)];
  const total = await spendTotal(workspaceId, start, end);
  const countries = await spendBy(workspaceId, start, end, 'country');
  const keys = await spendBy(workspaceId, start, end, 'key');
  const tags = await spendBy(workspaceId, start, end, 'tag');
  const { sums, balance } = await findLedgerTotals(workspaceId, range.from, range.to);
  const { charge = 0, refund = 0, credit = 0, closing = 0, carried = 0 } = sums;
  return {
    from: start.toISOString(),
    to: end.toISOString(),
    total: shown(total),
    byCountry: countries.map(({ value, ...spend }) => ({ country: value, ...shown(spend) })),
    byKey: keys.map(({ value, ...spend }) => ({ keyId: value, ...shown(spend) })),
    byClientTag: tags.map(({ value, ...spend }) => ({ clientTag: value, ...shown(spend) })),
    balance: balance === null ? null : pounds(balance),
    credits: pounds(credit),
    ledger: {
      charges: pounds(charge),
      refunds: pounds(refund),
      credits: pounds(credit),
      closed: pounds(closing),
      carried: pounds(carried),
      change: pounds(charge + refund + credit + closing + carried),
    },
  };
}

/** A month as `2026-11`, in UTC. */
function monthOf(month: string): { from: { date: number }; to: { date: number } } {
  const from = new Date(`${month}-01T00:00:00Z`);
  return {
    from: { date: from.getTime() },
    to: { date: Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1) },
  };
}

const pounds = (amount: number) => ({ gbp: moneyText(amount) });

function shown({ messages, parts, gbp, eur }: SpendSums) {
  return { messages, parts, cost: { gbp: moneyText(gbp), eur: moneyText(eur) } };
}
