import type { Told } from '../feed.ts';
import type { Evidence, Finding } from '../types.ts';
import { addOdd, collect } from './findings.ts';

/** The events that may follow an event (API decisions §7 and §8). */
const next: Record<string, Record<string, readonly string[]>> = {
  email: {
    '': ['queued'],
    queued: ['delayed', 'sent', 'bounced', 'failed', 'cancelled'],
    delayed: ['sent', 'bounced', 'failed', 'cancelled'],
    sent: ['delivered', 'bounced', 'failed'],
    delivered: ['opened', 'complained', 'bounced', 'failed'],
    opened: ['complained', 'bounced', 'failed'],
    complained: ['opened'],
    bounced: [],
    failed: [],
    cancelled: [],
  },
  sms: {
    '': ['queued', 'held', 'received'],
    queued: ['held', 'sent', 'failed', 'cancelled'],
    held: ['queued', 'failed', 'cancelled'],
    sent: ['delivered', 'failed'],
    delivered: [],
    failed: [],
    cancelled: [],
    received: [],
  },
};

/** I5: a state never goes back, a final state never changes, and times and counts never fall. */
export function stateForward(evidence: Evidence): Finding[] {
  const { ledger, rows } = evidence;
  const findings = collect('I5');
  const last = new Map<string, Told>();
  for (const { events } of ledger.feeds)
    for (const event of events) {
      const [kind, name] = event.type.split('.') as [string, string];
      if (!next[kind]) continue;
      const before = last.get(event.recordId);
      const from = before?.type.split('.')[1] ?? '';
      if (!next[kind][from]?.includes(name))
        findings.add(`${kind}: ${name} after ${from || 'nothing'}`, event.recordId);
      if (before && event.updatedMs < before.updatedMs) findings.add('updatedAt fell', event.recordId);
      if (before && event.openCount < before.openCount) findings.add('openCount fell', event.recordId);
      if (event.sentMs !== null && event.deliveredMs !== null && event.sentMs > event.deliveredMs)
        findings.add('delivered before it was sent', event.recordId);
      last.set(event.recordId, event);
    }
  for (const table of [rows.emails, rows.texts])
    for (const { id, status } of table.values()) {
      const told = last.get(id);
      if (told && told.status !== status) findings.add(`is ${status}, and was told to be ${told.status}`, id);
    }
  addOdd(evidence, findings, ['went back']);
  return findings.list();
}
