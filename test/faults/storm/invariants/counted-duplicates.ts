import { duplicatesOf, late } from '../duplicates.ts';
import type { Evidence, Finding } from '../types.ts';
import { collect } from './findings.ts';

const lanes = 3;
const defaultConcurrency = 40;
/** The share of all arrivals whose answer may come too late: more is no accident of a busy machine. */
const mostLate = { share: 0.03, atLeast: 10 };

/**
 * I3: a fault explains each second copy (a kill, a hang, a lost SMTP answer, a line to the database that hung), no email
 * has a third copy, and one kill causes no more second copies than the worker had emails in progress.
 */
export function countedDuplicates({ world, ledger, faults, rows }: Evidence): Finding[] {
  const findings = collect('I3');
  const { received } = world.receivers;
  const duplicates = duplicatesOf(ledger, world.receivers, faults, rows);
  for (const { id, what, cause } of duplicates)
    if (!cause) findings.add(`a second ${what} that no fault explains`, id);
  for (const [what, all] of [
    ['email', ledger.copies.size],
    ['delivery', received.size],
  ] as const) {
    const tooLate = duplicates.filter((one) => one.what === what && one.cause === late);
    if (tooLate.length > Math.max(mostLate.atLeast, all * mostLate.share))
      for (const { id } of tooLate) findings.add(`a second ${what}, since too many answers are too late`, id);
  }
  const emails = duplicates.filter(({ what }) => what === 'email');
  for (const [id, same] of Map.groupBy(emails, (duplicate) => duplicate.id))
    if (same.length > 1) findings.add('an email came more than twice', id);
  const inFlight = lanes * Number(world.settings['EMAIL_CONCURRENCY'] ?? defaultConcurrency);
  const killed = emails.filter(({ cause }) => cause?.kind === 'kill -9');
  for (const [cause, same] of Map.groupBy(killed, (duplicate) => duplicate.cause))
    if (same.length > inFlight)
      findings.add(`more second copies than the worker had in flight: ${same.length}`, cause!.target);
  return findings.list();
}
