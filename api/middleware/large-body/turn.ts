const waiting: (() => void)[] = [];
let isBusy = false;

/**
 * One after the other: what a body becomes when it is parsed takes many times its size. False: there was no turn within
 * that time, and nothing was done.
 */
export async function inTurn(limitMs: number, work: () => Promise<void>): Promise<boolean> {
  if (isBusy && !(await wait(limitMs))) return false;
  isBusy = true;
  try {
    await work();
    return true;
  } finally {
    const next = waiting.shift();
    if (next) next();
    else isBusy = false;
  }
}

function wait(limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const start = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(start), 1);
      resolve(false);
    }, limitMs);
    waiting.push(start);
  });
}
