/**
 * Resources are opened where they are first needed and closed with the process, so closing loads nothing that never
 * opened.
 */

const closers = new Set<() => Promise<void>>();

/** `close` is called when the process ends, once however often it is given. */
export function closeAtEnd(close: () => Promise<void>): void {
  closers.add(close);
}

/**
 * A process forgets what it remembers of the database when it closes its connections, for the next ones may lead
 * elsewhere.
 */
export function forgetAtEnd(forget: () => void): void {
  closers.add(async () => forget());
}

/** Side by side; one that fails leaves the others to close. */
export async function closeOpened(): Promise<void> {
  await Promise.allSettled([...closers].map((close) => close()));
}
