export { forgetLeftAttachments } from './email-delivery/attachments.ts';
export { attempt } from './email-delivery/attempt.ts';
export { deliver } from './email-delivery/deliver.ts';
