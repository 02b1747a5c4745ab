/** Addresses that a workspace may send to from the shared test sender, once they have confirmed. */

export { add } from './email-test-recipients/add.ts';
export { confirm, type Link, readLink } from './email-test-recipients/link.ts';
export { find, list, remove } from './email-test-recipients/read.ts';
