/**
 * Resources are opened where they are first needed and closed with the process, so closing loads nothing that never
 * opened.
 */

const closers = new Set<() => Promise<void>>();

/** Registers `close` to be called when the process ends; once, however often it is given. */
export function closeAtEnd(close: () => Promise<void>): void {
  closers.add(close);
}

/**
 * Registers `forget`, which drops what a process remembers of the database when it closes its connections, because the
 * next ones may lead elsewhere.
 */
export function forgetAtEnd(forget: () => void): void {
  closers.add(async () => forget());
}

/** Closes everything at the same time; a failure of one does not stop the others. */
export async function closeOpened(): Promise<void> {
  await Promise.allSettled([...closers].map((close) => close()));
}
