export { cancel } from './cancel.ts';
export { faultsOf, prepare } from './prepare.ts';
export { find, list, listEvents } from './read.ts';
export { send } from './send.ts';
