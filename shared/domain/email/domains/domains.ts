/** Sending domains: the DNS records to publish, the records that were seen, and the key that signs their mail. */

export { add, addVerified, makeKey } from './add.ts';
export { checkDue, checks } from './check.ts';
export { find, findByName, list, listAll } from './read.ts';
export { remove, removeOf } from './remove.ts';
export { findSigningDomain, type SigningDomain } from './signing.ts';
export { check, findRecords, verify, vouch } from './verify.ts';
