/** Sending domains: what is to be published in their DNS, what was seen of it, and the key that their mail is signed with. */

export { add, addVerified, makeKey } from './add.ts';
export { checkDue, checks } from './check.ts';
export { find, findByName, list, listAll } from './read.ts';
export { remove, removeOf } from './remove.ts';
export { findSigningDomain, type SigningDomain } from './signing.ts';
export { check, findRecords, verify, vouch } from './verify.ts';
