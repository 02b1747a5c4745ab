/** The webhooks of a workspace: the operations of a caller, or of the operator, on them. */

export { change, faultsOfChange } from './change.ts';
export { create, createLegacy, faultsOfNew } from './create.ts';
export { find, list, listAll } from './read.ts';
export { remove } from './remove.ts';
export { rotateSecret } from './rotate-secret.ts';
export { recover, redeliver } from './send-again.ts';
export { sendTest } from './send-test.ts';
