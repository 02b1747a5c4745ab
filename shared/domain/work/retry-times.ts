const minutes = [1, 5, 15, 30, 60];

/** When a message is tried again that has been so many times, by email or SMS: soon at first, then each hour. */
export function nextTry(retries: number, time: Date): Date {
  return new Date(time.getTime() + minutes[Math.min(retries, minutes.length - 1)]! * 60_000);
}
