export { cancel } from './sms/cancel.ts';
export { prepare } from './sms/prepare.ts';
export { find, list, listEvents } from './sms/read.ts';
export { send } from './sms/send.ts';
