/** Addresses that a workspace may send to from the shared test sender, once they have confirmed. */

export { add } from './add.ts';
export { confirm, type Link, readLink } from './link.ts';
export { find, list, remove } from './read.ts';
