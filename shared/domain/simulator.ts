/** The phones that text messages reach in place of real ones. */

export { answer, answers } from './simulator/answer.ts';
export { clear, faultsOf, list, prepare, receive } from './simulator/phones.ts';
