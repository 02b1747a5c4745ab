export { admit, sweep } from './sms-delivery/admission.ts';
export { attempt } from './sms-delivery/attempt.ts';
export { deliver, jobsInHand } from './sms-delivery/deliver.ts';
