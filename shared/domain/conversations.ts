export { deleteTextsBefore } from './conversations/forget.ts';
export { addInbound, addSent, addSentOfMany, expect } from './conversations/keep.ts';
export { findPair, list } from './conversations/read.ts';
