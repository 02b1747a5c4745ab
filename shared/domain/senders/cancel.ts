import * as db from '../../db/senders.ts';
import { findWorkspaceForUpdate } from '../../db/workspaces.ts';
import { problem } from '../../errors.ts';
import type { Caller } from '../../schemas/scopes.ts';

/** The sender goes, whatever its status; where it was the default, there is none then. */
export async function cancel({ workspaceId }: Caller, id: string): Promise<void> {
  await findWorkspaceForUpdate(workspaceId);
  const sender = await db.findSenderForUpdate(workspaceId, id);
  if (!sender) throw problem('not_found');
  if (sender.kind === 'virtual_number')
    throw problem('not_cancellable', {
      detail: 'A virtual number is given and taken back by the operator: ask them',
    });
  const rejected = sender.countries.filter(({ status }) => status === 'rejected');
  await db.insertSenderRejections(workspaceId, sender.nameKey!, rejected);
  await db.deleteSender(workspaceId, id);
}
