/** What a workspace's text messages can come from: names, mobile numbers and virtual numbers, approved by country. */

export { addApproved } from './senders/add-approved.ts';
export { type Approved, checkSender, findApproved } from './senders/approved.ts';
export { cancel } from './senders/cancel.ts';
export { check } from './senders/check.ts';
export { textCode, textsWithinMs } from './senders/code.ts';
export { change } from './senders/default.ts';
export { find, list, listAll } from './senders/read.ts';
export { faultsOf, request } from './senders/request.ts';
export { approve, listToReview, makeDefault, reject } from './senders/review.ts';
export { tryCode, verify } from './senders/verify.ts';
export { addNumber, assignNumber, removeNumber, unassignNumber } from './senders/virtual-numbers.ts';
