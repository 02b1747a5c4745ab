export { deleteTextsBefore } from './forget.ts';
export { addInbound, addSent, expect } from './keep.ts';
export { faultsOfFilter, findPair, list } from './read.ts';
