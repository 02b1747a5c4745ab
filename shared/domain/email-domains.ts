/** Sending domains: what is to be published in their DNS, what was seen of it, and the key that their mail is signed with. */

export { add, addVerified, makeKey } from './email-domains/add.ts';
export { checkDue, checks } from './email-domains/check.ts';
export { find, findByName, list, listAll } from './email-domains/read.ts';
export { remove, removeOf } from './email-domains/remove.ts';
export { findSigningDomain, type SigningDomain } from './email-domains/signing.ts';
export { check, look, verify, vouch } from './email-domains/verify.ts';
