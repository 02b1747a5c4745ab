import { isTaken } from '../ledger.ts';
import type { Evidence, Finding } from '../types.ts';
import { collect } from './findings.ts';

/** I10: nothing arrives for an address or number that had been suppressed before the message was asked for. */
export function suppressionsKept({ ledger, rows }: Evidence): Finding[] {
  const findings = collect('I10');
  for (const { id, key, kind, isToSuppressed } of ledger.items.values()) {
    if (!isToSuppressed) continue;
    if (kind === 'sms' || (ledger.copies.get(key) ?? []).some(isTaken)) {
      if (kind === 'email' || rows.simulated.has(id))
        findings.add('it has arrived at one who is suppressed', id);
      else findings.add('a text to a suppressed number was accepted', id);
      continue;
    }
    const row = rows.emails.get(id);
    const isRight =
      row?.status === 'cancelled' || (row?.status === 'failed' && row.reasonCode === 'recipient_suppressed');
    const isWaiting = row?.status === 'queued' && row.dueMs !== null && row.dueMs > rows.atMs;
    if (row && !isRight && !isWaiting)
      findings.add(`to one who is suppressed, and ${row.status} ${row.reasonCode}`, id);
  }
  return findings.list();
}
