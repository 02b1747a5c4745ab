/**
 * Resources are opened where they are first needed and closed with the process, so closing loads nothing that never
 * opened.
 */

const closers = new Set<() => Promise<void>>();

/** Registers `close`, which is called once when the process ends, however often it was registered. */
export function closeAtEnd(close: () => Promise<void>): void {
  closers.add(close);
}

/**
 * Registers `forget`, which runs when the process closes its connections. It drops everything that the process
 * remembers of the database, because the next connections may lead to another one.
 */
export function forgetAtEnd(forget: () => void): void {
  closers.add(async () => forget());
}

/** Closes everything at the same time; a failure of one does not stop the others. */
export async function closeOpened(): Promise<void> {
  await Promise.allSettled([...closers].map((close) => close()));
}
