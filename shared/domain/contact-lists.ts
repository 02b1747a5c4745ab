/** Contact lists of a workspace, what is in them, and copies from one into another. */

export { add, checkKnown, faultsOfAddition, waitForCopy } from './contact-lists/add.ts';
export { change, faultsOfChange, prepareChange } from './contact-lists/change.ts';
export { copies, copyOn } from './contact-lists/copy.ts';
export { countOn, counts } from './contact-lists/count.ts';
export { create, faultsOfNew, prepare } from './contact-lists/create.ts';
export { chosen, memberCount, membersAfter } from './contact-lists/members.ts';
export { contacts, find, list, preview } from './contact-lists/read.ts';
export { findLists, type List, sizeOf } from './contact-lists/record.ts';
export { remove, removeContacts } from './contact-lists/remove.ts';
