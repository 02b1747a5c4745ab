import { afterCommit } from '../../db/client.ts';
import { copyWork } from '../../db/contact-lists/copies.system.ts';
import type { NewCopy } from '../../db/contact-lists/copies.ts';
import { copyContacts } from '../../jobs/copy-contacts.ts';
import { enqueue } from '../../queue/queue.ts';
import { jobName } from '../../work/job-name.ts';
import { messageAdmission } from '../work/message-admission.ts';

/** Of one workspace, in Redis; its other copies wait in MySQL. So few that nobody waits for more than some turns of it. */
export const jobsPerWorkspace = 2;

/** Which copies have a job in Redis, and which wait in their rows. */
export const { tryAdmit, checkSoon, refill, sweep } = messageAdmission<
  'default',
  { copyId: string; workspaceId?: string | undefined }
>({
  messages: copyWork,
  job: copyContacts,
  payloadOf: ({ id, workspaceId }) => ({ copyId: id, workspaceId }),
  window: () => jobsPerWorkspace,
  mostAtOnce: jobsPerWorkspace,
  // That a workspace may not send has nothing to do with its lists.
  giveUpMinutes: { default: 0 },
});

/** Wakes a worker for a new copy where there is room, at the end of the transaction; else it waits. Returns whether it waits. */
export function admit(workspaceId: string, copy: Pick<NewCopy, 'id' | 'createdAt'>): { parked: boolean } {
  const permit = tryAdmit('default', workspaceId, copy.createdAt);
  if (permit.isGranted) {
    wake(workspaceId, { id: copy.id, claims: 0 });
    afterCommit(permit.committed);
  } else afterCommit(() => checkSoon('default', workspaceId));
  return { parked: !permit.isGranted };
}

/** Its job, named after the claim that it leads to, so that the sweep makes no second one. */
export function wake(workspaceId: string, copy: { id: string; claims: number }): void {
  enqueue(copyContacts, { copyId: copy.id, workspaceId }, { lane: 'default', id: jobName(copy) });
}
