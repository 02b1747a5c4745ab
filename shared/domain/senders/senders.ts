/** The senders of a workspace's text messages: names, mobile numbers and virtual numbers, approved by country. */

export { addApproved } from './add-approved.ts';
export { type Approved, checkSender, findApproved, listKeys, unknownSender } from './approved.ts';
export { cancel } from './cancel.ts';
export { check } from './check.ts';
export { textCode, textsWithinMs } from './code.ts';
export { change } from './default.ts';
export { find, list, listAll } from './read.ts';
export { faultsOf, request } from './request.ts';
export { approve, listToReview, makeDefault, reject } from './review.ts';
export { tryCode, verify } from './verify.ts';
export { addNumber, assignNumber, removeNumber, unassignNumber } from './virtual-numbers.ts';
