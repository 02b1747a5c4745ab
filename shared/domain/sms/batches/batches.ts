/** Batches of text messages: rows that are accepted at once, become messages chunk by chunk, and are followed to their end. */

export { cancel } from './cancel.ts';
export { create } from './create.ts';
export {
  abandonImport,
  deleteLeftImports,
  faultsOfImport,
  importFile,
  prepareImport,
} from './import/import.ts';
export {
  cancelAny,
  findAny,
  listUnfinished,
  type OwnedBatch,
  resumeAny,
} from './operator.ts';
export { faultsOf, prepare } from './prepare.ts';
export { preview } from './preview.ts';
export { find, list } from './read.ts';
export { resume } from './resume.ts';
export { wakePaused } from './work/wake.ts';
export { attempt, workOn } from './work/work.ts';
