import type { EmailKind, EmailRecord } from '../../../db/email/emails.ts';

export const minuteMs = 60_000;

export const giveUpMinutes: Record<EmailKind, number> = {
  // A one-time code that arrives the next day is a fault, not a delivery.
  authentication: 30,
  transactional: 48 * 60,
  marketing: 48 * 60,
};

/** When the email was to go out. */
export function dueSince(email: EmailRecord): Date {
  return email.scheduledAt ?? email.createdAt;
}

/** From when on its time for retries runs: a limit may have kept it for days, which is not the recipient's doing. */
export function retriesSince(email: EmailRecord, time: Date): Date {
  return email.kind === 'authentication' ? dueSince(email) : (email.triedAt ?? time);
}

export function isPast(since: Date, kind: EmailKind, time: Date): boolean {
  return time.getTime() > since.getTime() + giveUpMinutes[kind] * minuteMs;
}
