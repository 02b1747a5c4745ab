import { afterCommit } from '../../../../db/client.ts';
import { batchWork } from '../../../../db/sms/batches/batches.system.ts';
import type { SmsBatchRecord } from '../../../../db/sms/batches/batches.ts';
import { expandBatch } from '../../../../jobs/expand-batch.ts';
import { enqueue, isNear } from '../../../../queue/queue.ts';
import { jobName } from '../../../../work/job-name.ts';
import { messageAdmission } from '../../../work/message-admission.ts';

/** Of one workspace and lane, in Redis; the others wait in MySQL. So few that none of its batches waits for long. */
export const jobsPerWorkspace = 8;

/** Which batches have a job in Redis, and which wait in their rows. */
export const { tryAdmit, checkSoon, refill, sweep } = messageAdmission({
  messages: batchWork,
  job: expandBatch,
  payloadOf: ({ id, workspaceId }) => ({ batchId: id, workspaceId }),
  window: () => jobsPerWorkspace,
  mostAtOnce: jobsPerWorkspace,
  // A workspace that may not send has its batches paused, which is work as well.
  giveUpMinutes: { expand: 0, follow: 0 },
  metric: { name: 'batches_admitted', label: 'lane' },
});

/**
 * A batch that is about to be stored with something left to do: with a job where there is room for one, which the end of
 * the transaction makes; else it waits in its row. `suffix`: it is due sooner than the job that it may have.
 */
export function admit(batch: SmsBatchRecord, suffix = ''): SmsBatchRecord {
  const { id, workspaceId, lane, requestId, dueAt } = batch;
  if (!dueAt) return batch;
  if (!isNear(dueAt)) return { ...batch, parked: true };
  const permit = tryAdmit(lane, workspaceId, dueAt);
  if (permit.isGranted) {
    enqueue(
      expandBatch,
      { batchId: id, workspaceId },
      { lane, id: jobName(batch, suffix), at: dueAt, requestId, priority: permit.rank },
    );
    afterCommit(permit.committed);
  } else afterCommit(() => checkSoon(lane, workspaceId));
  return { ...batch, parked: !permit.isGranted };
}
