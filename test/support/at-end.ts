const actions: (() => unknown)[] = [];

/**
 * Runs when the test file has ended, the last one first. All clean-up goes through here, because what was opened
 * last (an API, workers, processes) must close before what it stands on (the database).
 */
export function atEnd(action: () => unknown): void {
  actions.push(action);
}

/** Every action runs, whatever the others do; the first failure is thrown at the end. */
export async function endAll(): Promise<void> {
  const failures: unknown[] = [];
  for (let action = actions.pop(); action; action = actions.pop()) {
    try {
      await action();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
