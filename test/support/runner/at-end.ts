let actions: (() => unknown)[] = [];

/**
 * Registers an action for the end of the test file; the last one runs first. All clean-up goes through here, because
 * things that were opened last (an API, workers, processes) must close before the things that they use (the database).
 */
export function atEnd(action: () => unknown): void {
  actions.push(action);
}

/** Begins a new list for the next test file, so that a file that ends late does not undo the setup of the next file. */
export function beginActions(): (() => unknown)[] {
  actions = [];
  return actions;
}

/** Runs every action, even if others fail, and throws the first failure at the end. */
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
