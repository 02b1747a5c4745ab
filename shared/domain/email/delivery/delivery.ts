export { forgetLeftAttachments } from './attachments.ts';
export { attempt } from './attempt.ts';
export { deliver } from './deliver.ts';
