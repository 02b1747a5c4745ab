export { cancel } from './cancel.ts';
export { faultsOf, prepare } from './prepare.ts';
export { faultsOfFilter, find, list, listEvents } from './read.ts';
export { send } from './send.ts';
