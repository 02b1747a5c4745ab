/** The webhooks of a workspace: what a caller, or the operator, may do with them. */

export { change, faultsOfChange } from './change.ts';
export { create, createLegacy, faultsOfNew, type NewLegacyWebhook } from './create.ts';
export { find, list, listAll } from './read.ts';
export { remove } from './remove.ts';
export { rotateSecret } from './rotate-secret.ts';
export { recover, redeliver } from './send-again.ts';
export { sendTest } from './send-test.ts';
