export { cancel } from './email/cancel.ts';
export { faultsOf, type PreparedEmail, prepare } from './email/prepare.ts';
export { find, list, listEvents } from './email/read.ts';
export { send, store } from './email/send.ts';
