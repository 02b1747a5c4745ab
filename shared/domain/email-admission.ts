/**
 * Which emails have a job in Redis. A workspace has so many of them, in each lane, and the rest waits in its rows: for
 * room, for its time, for a sending limit, or for the operator to let the workspace send again.
 */

export { takeTurn } from './email-admission/limits.ts';
export { laneOf } from './email-admission/precedence.ts';
export { refill } from './email-admission/refill.ts';
export { enter, lookSoon } from './email-admission/rooms.ts';
export { sweep } from './email-admission/sweep.ts';
