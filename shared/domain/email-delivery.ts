export { attempt } from './email-delivery/attempt.ts';
