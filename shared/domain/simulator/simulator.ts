/** The simulator: phones in the database that receive text messages in place of real ones. */

export { answer, workOn } from './answer.ts';
export { clear, faultsOf, list, prepare, receive } from './phones.ts';
export { kind } from './wake.ts';
