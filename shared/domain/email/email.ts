export { cancel } from './cancel.ts';
export { faultsOf, type PreparedEmail, prepare } from './prepare.ts';
export { find, list, listEvents } from './read.ts';
export { send, store } from './send.ts';
