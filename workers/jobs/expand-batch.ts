import * as smsBatches from '../../shared/domain/sms/batches/batches.ts';
import { expandBatch } from '../../shared/jobs/expand-batch.ts';
import { handle } from '../handle.ts';

// More jobs than slots, so that jobs of one workspace that wait for a slot do not keep the jobs of others from being
// fetched.
export default handle(expandBatch, { concurrency: 16 }, (payload, lane) => smsBatches.workOn(lane, payload));
