/** Batches of text messages: rows that are accepted at once, become messages chunk by chunk, and are followed to their end. */

export { sweep } from './sms-batches/admission.ts';
export { cancel } from './sms-batches/cancel.ts';
export { create } from './sms-batches/create.ts';
export {
  abandonImport,
  deleteLeftImports,
  faultsOfImport,
  importFile,
  prepareImport,
} from './sms-batches/import.ts';
export {
  cancelAny,
  findAny,
  listUnfinished,
  type OwnedBatch,
  resumeAny,
} from './sms-batches/operator.ts';
export { faultsOf, prepare } from './sms-batches/prepare.ts';
export { preview } from './sms-batches/preview.ts';
export { find, list } from './sms-batches/read.ts';
export { resume } from './sms-batches/resume.ts';
export { deleteRowsPast } from './sms-batches/rows-past.ts';
export { wakePaused } from './sms-batches/wake.ts';
export { attempt, workOn } from './sms-batches/work.ts';
