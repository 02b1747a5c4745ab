import type { EmailDomainRecord, RecordCheck, RecordChecks } from '../../../db/email/domains.ts';
import type { EmailDomainStatus } from '../../../schemas/email/domains.ts';
import type { WantedRecord } from './records.ts';

/** How the status of a domain follows from what its DNS says. */

/** `isKnown`: false after a failed look-up, which changes no status. */
export type RecordFinding = { wanted: WantedRecord; check: RecordCheck; isKnown: boolean };
export type Findings = { at: Date; findings: RecordFinding[] };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const graceMs = dayMs;
const pendingForMs = 14 * dayMs;
const everyMs: Record<EmailDomainStatus, number> = {
  pending: 5 * minuteMs,
  warning: hourMs,
  verified: dayMs,
  failed: dayMs,
};
/**
 * The wait after a failed look-up. It is shorter than the usual wait where that is long. For `pending` it is
 * longer, so that a zone that never answers does not take time from others.
 */
const afterTroubleMs: Record<EmailDomainStatus, number> = {
  pending: 15 * minuteMs,
  warning: 15 * minuteMs,
  verified: hourMs,
  failed: dayMs,
};

export function firstCheckDue(createdAt: Date): Date {
  return new Date(createdAt.getTime() + everyMs.pending);
}

/** Returns the domain after this check of its DNS; null if a later check has been applied already. */
export function after(domain: EmailDomainRecord, { at, findings }: Findings): EmailDomainRecord | null {
  if (domain.lastCheckedAt && domain.lastCheckedAt > at) return null;
  const checks: RecordChecks = {};
  for (const { wanted, check } of findings) checks[wanted.purpose] = check;
  const seen = { ...domain, checks, lastCheckedAt: at };
  // The operator vouches for this domain, so its status stays.
  if (domain.checkDueAt === null) return seen;
  const dkim = findings.find(({ wanted }) => wanted.purpose === 'dkim');
  if (!dkim?.isKnown) return { ...seen, checkDueAt: later(at, troubleWaitMs(domain, at)) };
  const changed = { ...seen, ...statusAfter(domain, dkim.check.status === 'verified', at) };
  return { ...changed, checkDueAt: dueAfter(changed, at) };
}

type DomainStanding = Pick<EmailDomainRecord, 'status' | 'verifiedAt' | 'warningSince'>;

function statusAfter(domain: EmailDomainRecord, isThere: boolean, at: Date): DomainStanding {
  const { status, verifiedAt, warningSince } = domain;
  if (isThere) {
    const wasVerified = status === 'verified' || status === 'warning';
    return { status: 'verified', verifiedAt: wasVerified ? verifiedAt : at, warningSince: null };
  }
  if (status === 'verified') return { status: 'warning', verifiedAt, warningSince: at };
  const isOver =
    status === 'pending'
      ? at.getTime() >= domain.createdAt.getTime() + pendingForMs
      : status === 'warning' && at.getTime() >= (warningSince ?? at).getTime() + graceMs;
  return isOver ? { status: 'failed', verifiedAt, warningSince: null } : { status, verifiedAt, warningSince };
}

/** Returns when the next check is due: as often as the status asks for, and at the end of the grace period. */
function dueAfter({ status, warningSince }: DomainStanding, at: Date): Date {
  const next = later(at, everyMs[status]);
  const graceEnd = later(warningSince ?? next, graceMs);
  return status === 'warning' && graceEnd < next ? graceEnd : next;
}

function troubleWaitMs({ status, createdAt }: EmailDomainRecord, at: Date): number {
  const isOld = status === 'pending' && at.getTime() >= createdAt.getTime() + pendingForMs;
  return afterTroubleMs[isOld ? 'failed' : status];
}

function later(time: Date, byMs: number): Date {
  return new Date(time.getTime() + byMs);
}
