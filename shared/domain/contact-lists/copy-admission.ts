import { copyWork } from '../../db/contact-lists/copies.system.ts';
import { copyContacts } from '../../jobs/copy-contacts.ts';
import { enqueue } from '../../queue/queue.ts';
import { jobName } from '../../work/job-name.ts';
import { messageAdmission } from '../work/message-admission.ts';

/** The jobs of one workspace in Redis; its other copies wait in MySQL. So few, that others wait for some turns only. */
export const jobsPerWorkspace = 2;

/** Which copies have a job in Redis, and which wait in their rows. */
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
