import { type Item, isTaken } from '../ledger.ts';
import type { RecordRow } from '../rows.ts';
import type { Evidence, Finding } from '../types.ts';
import { addOdd, type Collected, collect } from './findings.ts';

/** Reasons for failure that the load causes itself, or that say openly that the outcome is unknown. */
const expectedReasons = {
  email: ['recipient_suppressed', 'delivery_uncertain'],
  // Reasons from phones that refuse texts or have sent STOP.
  sms: [
    'recipient_suppressed',
    'delivery_uncertain',
    'unknown_subscriber',
    'absent_subscriber',
    'expired',
    'held_expired',
  ],
};
const isAtRest = ['sent', 'delivered', 'failed', 'cancelled'];

/** I1: each accepted message ends or waits for a later time; each message that counts as sent has arrived. */
export function nothingLost(evidence: Evidence): Finding[] {
  const { ledger, rows } = evidence;
  const findings = collect('I1');
  const told = new Set(ledger.feeds.flatMap(({ events }) => events.map(({ recordId }) => recordId)));
  for (const item of ledger.items.values()) {
    const row = (item.kind === 'email' ? rows.emails : rows.texts).get(item.id);
    if (!row) {
      findings.add('accepted, and there is no such record', item.id);
      continue;
    }
    if (!waits(row, rows.atMs) && !isAtRest.includes(row.status))
      findings.add(`accepted, and ${row.status} with nothing to come`, item.id);
    if (!told.has(item.id)) findings.add('accepted, and the feed has told nothing of it', item.id);
    if (row.sentMs !== null && !hasArrived(evidence, item))
      findings.add('sent, and it has not arrived', item.id);
    if (row.status === 'failed' && !mayFail(row, item.kind))
      findings.add(`given up, although nothing was wrong with it: ${row.reasonCode}`, item.id);
  }
  addMissingMessages(evidence, findings);
  addOdd(evidence, findings, [
    'send email',
    'send text',
    'send batch',
    'suppress',
    'import contacts',
    'cancel',
    'read',
  ]);
  return findings.list();
}

/** Adds accepted batches that are gone or not done, and each of their messages that was not made exactly once. */
function addMissingMessages({ ledger, rows }: Evidence, findings: Collected): void {
  const made = Map.groupBy([...rows.texts.values()], ({ reference }) => reference);
  for (const { id, recipients } of ledger.batches.values()) {
    const row = rows.batches.get(id);
    if (!row) {
      findings.add('accepted, and there is no such batch', id);
      continue;
    }
    const isPaused = row.status === 'paused' && row.pausedReason === 'insufficient_balance';
    if (row.isExpanding && !isPaused) findings.add(`a batch is ${row.status}, and not all is made`, id);
    for (const reference of recipients.keys()) {
      const messages = made.get(reference)?.length ?? 0;
      if (messages === 0 && !isPaused) findings.add('a message of a batch was never made', reference);
      if (messages > 1) findings.add('a message of a batch was made more than once', reference);
    }
  }
}

/** A one-time code is given up after half an hour; the relay can be away at all three tries (API decisions §7). */
function mayFail(row: RecordRow & { kind?: string }, kind: Item['kind']): boolean {
  if (row.kind === 'authentication' && row.retries >= 2 && row.reasonCode?.startsWith('relay_')) return true;
  return expectedReasons[kind].includes(row.reasonCode ?? '');
}

/** Returns whether the record waits for a later time; a held text waits for a balance until its `due_at`. */
function waits({ status, dueMs }: RecordRow, atMs: number): boolean {
  return (status === 'queued' || status === 'held') && dueMs !== null && dueMs > atMs;
}

function hasArrived({ ledger, rows }: Evidence, { kind, id, key }: Item): boolean {
  return kind === 'sms' ? rows.simulated.has(id) : (ledger.copies.get(key) ?? []).some(isTaken);
}
