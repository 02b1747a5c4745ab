import { fitting } from '../../../db/client/outside-text.ts';
import type { EmailReason, EmailRecord } from '../../../db/email/emails.ts';
import type { MailReport, RecipientStatus } from '../../../formats/email/mail-report.ts';
import { verdictOf } from '../../../formats/email/smtp-reply.ts';
import type { EventType } from '../../../schemas/events.ts';
import type { SuppressionScope } from '../../../schemas/suppressions.ts';
import { advance, nextStatuses, remark } from '../record.ts';

/** The changes that a report makes to an email. Each part may be missing: a known change is not reported again. */
export type ReportFinding = {
  change?: { email: EmailRecord; event?: EventType };
  /** Set when the recipient must get no more email of this scope. */
  suppress?: { scope: SuppressionScope; source: 'bounce' | 'complaint'; reason: string };
};

type Complaint = Extract<MailReport, { kind: 'complaint' }>;

/**
 * Feedback types of RFC 5965 §7.3, and other usual ones, which say that the email is not wanted. The other types say
 * that the email is wanted, or report a technical fault.
 */
const complaints = ['abuse', 'fraud', 'virus', 'opt-out', 'opt-out-list', 'unsubscribe'];

/**
 * Judges a complaint. A complaint shows that the email has arrived. If its status says otherwise, only the suppression
 * follows. Anybody who was shown the email can write a complaint without proof. Such a complaint must not keep one-time
 * codes from the recipient, so it suppresses marketing only.
 */
export function judgeComplaint(
  email: EmailRecord,
  { feedbackType }: Complaint,
  { at, isProven }: { at: Date; isProven: boolean },
): ReportFinding {
  if (!complaints.includes(feedbackType)) return {};
  const suppress = {
    scope: isProven ? ('all' as const) : ('marketing' as const),
    source: 'complaint' as const,
    reason: `Complaint about an email: ${feedbackType}`,
  };
  const isOver = email.status !== 'sent' && email.status !== 'delivered';
  if (isOver || isComplaint(email.reason)) return { suppress };
  const reason: EmailReason = {
    category: 'complaint',
    // A type has hyphens; a code of ours is in snake_case.
    code: feedbackType.replaceAll('-', '_'),
    description: 'The recipient reported the email as unwanted',
    retryable: false,
  };
  return { change: { email: remark(email, { at, reason }), event: 'email.complained' }, suppress };
}

export function judgeStatus(
  email: EmailRecord,
  { action, reply }: RecipientStatus,
  { at, isDelayKnown }: { at: Date; isDelayKnown: boolean },
): ReportFinding {
  switch (action) {
    case 'failed': {
      const { verdict, reason } = readReply(reply);
      // If the email has failed before, its first reason stays; the suppression follows, as the mailbox is missing.
      const suppress = verdict.suppress && {
        scope: 'all' as const,
        source: 'bounce' as const,
        reason: fitting('suppressions.reason', reply.text),
      };
      return {
        ...(may(email, 'failed') && { change: { email: advance(email, 'failed', { at, reason }) } }),
        ...(suppress && { suppress }),
      };
    }
    // `relayed` means that the next hop sends no reports, which is so for nearly every recipient's own server
    // (RFC 3461 §5.2.4 (b)). `expanded` means that a list at the recipient's address took the email. A later failure
    // comes as a late bounce.
    case 'delivered':
    case 'relayed':
    case 'expanded': {
      if (!may(email, 'delivered')) return {};
      // A complaint may come before the report of the delivery, and stays. The reason of a delay is dropped.
      const complaint = isComplaint(email.reason) && { reason: email.reason };
      return { change: { email: advance(email, 'delivered', { at, ...complaint }) } };
    }
    case 'delayed': {
      // A recipient who complains has the email, so the email is not delayed any more.
      if (email.status !== 'sent' || isDelayKnown || isComplaint(email.reason)) return {};
      const reason = { ...readReply(reply).reason, category: 'soft_bounce' as const, retryable: true };
      return { change: { email: remark(email, { at, reason }), event: 'email.delayed' } };
    }
  }
}

/** Returns what the reply of a mail server means for an email, and the reason that tells of it. */
export function readReply(reply: RecipientStatus['reply']) {
  const verdict = verdictOf(reply);
  const reason: EmailReason = {
    category: verdict.category,
    code: verdict.code,
    description: fitting('emails.reason_description', reply.text) || null,
    retryable: verdict.retryable,
  };
  return { verdict, reason };
}

function isComplaint(reason: EmailReason | null): reason is EmailReason {
  return reason?.category === 'complaint';
}

function may(email: EmailRecord, status: 'failed' | 'delivered'): boolean {
  return nextStatuses[email.status].includes(status);
}
