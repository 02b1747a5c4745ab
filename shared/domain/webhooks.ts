/** The webhooks of a workspace: what a caller, or the operator, may do with them. */

export { change, faultsOfChange } from './webhooks/change.ts';
export { create, createLegacy, faultsOfNew, type NewLegacyWebhook } from './webhooks/create.ts';
export { find, list, listAll } from './webhooks/read.ts';
export { remove } from './webhooks/remove.ts';
export { rotateSecret } from './webhooks/rotate-secret.ts';
export { recover, redeliver } from './webhooks/send-again.ts';
export { sendTest } from './webhooks/send-test.ts';
