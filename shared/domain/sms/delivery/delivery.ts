export { admit } from './admission.ts';
export { attempt } from './attempt.ts';
export { deliver, jobConcurrency } from './deliver.ts';
