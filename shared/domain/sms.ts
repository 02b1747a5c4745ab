export { cancel } from './sms/cancel.ts';
export { faultsOf, prepare } from './sms/prepare.ts';
export { find, list, listEvents } from './sms/read.ts';
export { send } from './sms/send.ts';
