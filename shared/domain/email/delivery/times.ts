import type { EmailKind, EmailRecord } from '../../../db/email/emails.ts';
import { dueSince } from '../../work/retry-times.ts';

export const minuteMs = 60_000;

export const giveUpMinutes: Record<EmailKind, number> = {
  // A one-time code that arrives the next day is a fault, not a delivery.
  authentication: 30,
  transactional: 48 * 60,
  marketing: 48 * 60,
};

/** Returns when the time for retries began. Days that a limit held the email back before do not count. */
export function retriesSince(email: EmailRecord, time: Date): Date {
  return email.kind === 'authentication' ? dueSince(email) : (email.triedAt ?? time);
}

export function isPast(since: Date, kind: EmailKind, time: Date): boolean {
  return time.getTime() > since.getTime() + giveUpMinutes[kind] * minuteMs;
}
