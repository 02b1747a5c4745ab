export { attempt } from './sms-delivery/attempt.ts';
export { sweep } from './sms-delivery/sweep.ts';
