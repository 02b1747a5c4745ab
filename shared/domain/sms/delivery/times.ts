import type { SmsRecord } from '../../../db/sms/messages.ts';

/** A text fails if no gateway has taken it after this time. */
export const giveUpMinutes = 48 * 60;

/**
 * Returns when the time for retries began. The time before, in which the text waited for a balance or for its turn,
 * does not count.
 */
export function retriesSince(message: SmsRecord, time: Date): Date {
  return message.triedAt ?? time;
}

export function isPast(since: Date, time: Date): boolean {
  return time.getTime() > since.getTime() + giveUpMinutes * 60_000;
}
