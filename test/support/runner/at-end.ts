let actions: (() => unknown)[] = [];

/**
 * Runs when the test file has ended, the last one first. All clean-up goes through here, because what was opened
 * last (an API, workers, processes) must close before what it stands on (the database).
 */
export function atEnd(action: () => unknown): void {
  actions.push(action);
}

/** Begins a new list, for the next test file: one that ends late so undoes nothing of the file after it. */
export function beginActions(): (() => unknown)[] {
  actions = [];
  return actions;
}

/** Every action runs, whatever the others do; the first failure is thrown at the end. */
export async function endAll(own = actions): Promise<void> {
  const failures: unknown[] = [];
  for (let action = own.pop(); action; action = own.pop()) {
    try {
      await action();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
