import type { Told } from '../feed.ts';
import type { Evidence, Finding } from '../types.ts';
import { type Collected, collect } from './findings.ts';

/** The least items a second that a busy machine works off. */
const leastPerSecond = 15;
const slackMs = 20_000;
const endings = ['email.sent', 'email.failed', 'email.bounced', 'sms.sent', 'sms.failed'];

/**
 * I11: after the last fault, all due work is done within the pause of the sweep, the lease, and the time for the
 * backlog; no work stays overdue or leased to a dead worker.
 */
export function nothingOverdue(evidence: Evidence): Finding[] {
  const { rows } = evidence;
  const findings = collect('I11');
  for (const { what, dueMs } of rows.leftOver) if (dueMs <= rows.atMs) findings.add('left over', what);
  for (const table of [rows.emails, rows.texts, rows.deliveries])
    for (const { id, status, dueMs, isHeld } of table.values()) {
      if (isHeld) findings.add(`${status}, and a worker holds it`, id);
      else if (['queued', 'pending', 'held'].includes(status) && dueMs !== null && dueMs <= rows.atMs)
        findings.add(`${status}, and overdue`, id);
    }
  addSlow(evidence, findings);
  return findings.list();
}

/** Adds items that were handed over after the longest recovery time; items with a retry or a set time do not count. */
function addSlow({ world, ledger, faults, rows }: Evidence, findings: Collected): void {
  const lastFaultEndMs = Math.max(0, ...faults.map(({ atMs, lastedMs }) => atMs + lastedMs));
  const longestFaultMs = Math.max(0, ...faults.map(({ lastedMs }) => lastedMs));
  const endOf = new Map<string, Told>();
  const wasHeld = new Set<string>();
  for (const { events } of ledger.feeds)
    for (const event of events)
      if (event.type === 'sms.held') wasHeld.add(event.recordId);
      else if (endings.includes(event.type) && !endOf.has(event.recordId)) endOf.set(event.recordId, event);
  const ended = [...ledger.items.values()].flatMap((item) => {
    const row = (item.kind === 'email' ? rows.emails : rows.texts).get(item.id);
    const end = endOf.get(item.id);
    if (!row || !end || row.retries > 0 || item.scheduledMs !== null || wasHeld.has(item.id)) return [];
    return [{ id: item.id, endMs: end.occurredMs, fromMs: Math.max(row.createdMs, lastFaultEndMs) }];
  });
  const backlog = ended.filter(({ endMs }) => endMs > lastFaultEndMs).length;
  const { LEASE_SECONDS: lease = '150', SWEEP_SECONDS: sweep = '2' } = world.settings;
  const limitMs =
    (Number(lease) + 2 * Number(sweep)) * 1000 +
    (backlog / leastPerSecond) * 1000 +
    2 * longestFaultMs +
    slackMs;
  for (const { id, fromMs, endMs } of ended)
    if (endMs - fromMs > limitMs)
      findings.add(`handed over more than ${Math.round(limitMs / 1000)} s late`, id);
}
