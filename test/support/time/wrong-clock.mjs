/**
 * A preload (`NODE_OPTIONS=--import …`) for a machine whose clock is wrong: Date is CLOCK_OFFSET_MS away from the true
 * time, and jumps by CLOCK_JUMP_MS more at each SIGWINCH, which nothing else listens to. The monotonic clock
 * (performance.now, timers) stays, as it does when somebody sets the clock of a machine.
 */
import { isMainThread } from 'node:worker_threads';

const TrueDate = globalThis.Date;
let offsetMs = Number(process.env.CLOCK_OFFSET_MS ?? 0);

const wrongNow = () => TrueDate.now() + offsetMs;

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [wrongNow()] : args, newTarget),
  apply: () => new TrueDate(wrongNow()).toString(),
  get: (target, name, receiver) => (name === 'now' ? wrongNow : Reflect.get(target, name, receiver)),
});

if (isMainThread)
  process.on('SIGWINCH', () => {
    offsetMs += Number(process.env.CLOCK_JUMP_MS ?? 0);
    process.stdout.write(`${JSON.stringify({ msg: 'the clock has jumped', offsetMs })}\n`);
  });
