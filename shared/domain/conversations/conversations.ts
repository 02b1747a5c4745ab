export { deleteTextsBefore } from './forget.ts';
export { addInbound, addSent, addSentOfMany, expect } from './keep.ts';
export { findPair, list } from './read.ts';
