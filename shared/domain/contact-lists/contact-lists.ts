/** Contact lists of a workspace, what is in them, and copies from one into another. */

export { add, checkKnown, faultsOfAddition, waitForCopy } from './add.ts';
export { change, faultsOfChange, prepareChange } from './change.ts';
export { copyOn, workOn } from './copy.ts';
export { kind as copies } from './copy-admission.ts';
export { countOn, counts } from './count.ts';
export { create, faultsOfNew, prepare } from './create.ts';
export { chosen, memberCount, membersAfter } from './members.ts';
export { contacts, find, list, preview } from './read.ts';
export { findLists, type List, sizeOf } from './record.ts';
export { remove, removeContacts } from './remove.ts';
