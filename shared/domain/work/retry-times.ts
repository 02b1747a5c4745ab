export type Scheduled = { scheduledAt: Date | null; createdAt: Date };

/** Returns when an email or SMS was to go out. */
export function dueSince(message: Scheduled): Date {
  return message.scheduledAt ?? message.createdAt;
}

const minutes = [1, 5, 15, 30, 60];

/** Returns when an email or SMS with this many retries is tried again: soon at first, then each hour. */
export function nextTry(retries: number, time: Date): Date {
  return new Date(time.getTime() + minutes[Math.min(retries, minutes.length - 1)]! * 60_000);
}
