export { attempt } from './attempt.ts';
export { deliver } from './deliver.ts';
