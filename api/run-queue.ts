/** The time slice of a turn: after it no further task begins, but the last one may take longer. */
const sliceMs = 10;

/**
 * Work that waits for a later turn of the event loop. A turn runs the tasks that were there when it began, oldest first,
 * until its time slice is used up. Between two turns the loop reads from every other connection.
 */
export function runQueue(milliseconds: () => number = () => performance.now()) {
  let waiting: (() => void)[] = [];

  function runSlice(): void {
    const tasks = waiting;
    waiting = [];
    const until = milliseconds() + sliceMs;
    let begun = 0;
    do tasks[begun++]!();
    while (begun < tasks.length && milliseconds() < until);
    // A task that was added during this slice has scheduled the next slice already.
    const isScheduled = waiting.length > 0;
    waiting = [...tasks.slice(begun), ...waiting];
    if (waiting.length > 0 && !isScheduled) setImmediate(runSlice);
  }

  function add(task: () => void): void {
    waiting.push(task);
    if (waiting.length === 1) setImmediate(runSlice);
  }

  return { add };
}
