const minutes = [1, 5, 15, 30, 60];

/** When a message is tried again that has been so many times, by email or SMS: soon at first, then each hour. */
export function nextTry(retries: number, time: Date): Date {
  return new Date(time.getTime() + minutes[Math.min(retries, minutes.length - 1)]! * 60_000);
}

const spreadMs = 5_000;

/**
 * When something that a dead worker had in hand is taken up again. One of them may be what killed it: if they all came
 * back at the same moment, it would take the others down again and again.
 */
export function oneByOne(time: Date): Date {
  return new Date(time.getTime() + Math.random() * spreadMs);
}
