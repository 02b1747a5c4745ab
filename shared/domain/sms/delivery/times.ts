import type { SmsRecord } from '../../../db/sms/messages.ts';

/** A text that no gateway takes for so long is given up. */
export const giveUpMinutes = 48 * 60;

/** Returns when the time for retries began. Time that the text waited for money or its turn before does not count. */
export function retriesSince(message: SmsRecord, time: Date): Date {
  return message.triedAt ?? time;
}

export function isPast(since: Date, time: Date): boolean {
  return time.getTime() > since.getTime() + giveUpMinutes * 60_000;
}
