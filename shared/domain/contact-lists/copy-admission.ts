import { copyWork } from '../../db/contact-lists/copies.system.ts';
import { copyContacts } from '../../jobs/copy-contacts.ts';
import { enqueue } from '../../queue/queue.ts';
import { jobName } from '../../work/job-name.ts';
import { messageAdmission } from '../work/message-admission.ts';

/**
 * How many copies of one workspace have a job in Redis; its other copies wait in MySQL. The number is small, so that
 * copies of other workspaces wait for a few turns only.
 */
export const jobsPerWorkspace = 2;

/** Decides which copies have a job in Redis and which wait as rows. */
export const { admit, refill, sweep } = messageAdmission<
  'default',
  { copyId: string; workspaceId?: string | undefined }
>({
  messages: copyWork,
  job: copyContacts,
  payloadOf: ({ id, workspaceId }) => ({ copyId: id, workspaceId }),
  window: () => jobsPerWorkspace,
  // A block on sending does not concern the lists of a workspace.
  giveUpMinutes: { default: 0 },
});

/** Makes the job of a copy, named after the claim that it leads to, so that the sweep makes no second job. */
export function wake(workspaceId: string, copy: { id: string; claims: number }): void {
  enqueue(copyContacts, { copyId: copy.id, workspaceId }, { lane: 'default', id: jobName(copy) });
}
