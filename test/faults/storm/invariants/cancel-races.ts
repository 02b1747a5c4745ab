import { type Item, isTaken } from '../ledger.ts';
import type { Evidence, Finding } from '../types.ts';
import { collect } from './findings.ts';

/** I6: a cancellation is answered with 200 and nothing arrives, or it is refused and the message goes out. */
export function cancelRaces({ ledger, rows }: Evidence): Finding[] {
  const findings = collect('I6');
  const hasArrived = ({ kind, id, key }: Item) =>
    kind === 'sms' ? rows.simulated.has(id) : (ledger.copies.get(key) ?? []).some(isTaken);
  for (const item of ledger.items.values()) {
    const row = (item.kind === 'email' ? rows.emails : rows.texts).get(item.id);
    if (!row) continue;
    const answer = item.cancelled?.status ?? null;
    const isCancelled = row.status === 'cancelled';
    if (isCancelled && !item.cancelled) findings.add('cancelled, and nobody asked for it', item.id);
    if (isCancelled && answer === 409) findings.add('cancelled, and the cancellation was refused', item.id);
    if (answer === 200 && !isCancelled)
      findings.add(`the cancellation was accepted, and it is ${row.status}`, item.id);
    if (answer === 200 && hasArrived(item)) findings.add('it was cancelled, and it has arrived', item.id);
    if (answer === 409 && !hasArrived(item) && row.status !== 'failed')
      findings.add('the cancellation was refused, and it has not arrived', item.id);
  }
  return findings.list();
}
