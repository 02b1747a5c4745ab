export { find } from './workspace/read.ts';
export { spend } from './workspace/spend.ts';
