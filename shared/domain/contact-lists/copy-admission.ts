import { copyTable } from '../../db/contact-lists/copies.system.ts';
import { copyContacts } from '../../jobs/copy-contacts.ts';
import { enqueue } from '../../queue/queue.ts';
import { jobName } from '../../work/job-name.ts';
import { messageAdmission } from '../work/message-admission.ts';

/**
 * How many copies of one workspace have a job in Redis; its other copies wait in MySQL. The number is small, so that
 * copies of other workspaces wait for a few turns only.
 */
const jobsPerWorkspace = 2;

/** Decides which copies have a job in Redis and which wait as rows. */
export const { admit, turns, kind } = messageAdmission<
  'default',
  { copyId: string; workspaceId?: string | undefined }
>({
  name: 'contact_list_copy',
  table: copyTable,
  job: copyContacts,
  payloadOf: ({ id, workspaceId }) => ({ copyId: id, workspaceId }),
  window: () => jobsPerWorkspace,
});

/** Makes the job of a copy, named after the claim that it leads to, so that the sweep makes no second job. */
export function wake(copy: { id: string; workspaceId: string; claims: number }): void {
  const { id: copyId, workspaceId } = copy;
  enqueue(copyContacts, { copyId, workspaceId }, { lane: 'default', id: jobName(copy) });
}
