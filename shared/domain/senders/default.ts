import { orNotFound, problem } from '../../common/errors.ts';
import * as db from '../../db/senders/senders.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { Sender, SenderChanges } from '../../schemas/senders.ts';
import { toWire } from './record.ts';

/** The default sender: messages that name no sender come from it. All changes here run with the workspace locked. */

/** Makes the first approved sender of a workspace its default, until the workspace chooses another. */
export async function withDefault(sender: db.SenderRecord): Promise<db.SenderRecord> {
  if (sender.status !== 'approved') return { ...sender, isDefault: false };
  const isDefault = sender.isDefault || (await db.findDefaultSender(sender.workspaceId)) === null;
  return { ...sender, isDefault };
}

/** Makes the oldest approved sender the default where the default is deleted or no longer approved. */
export async function passDefaultOn(workspaceId: string): Promise<void> {
  if (await db.findDefaultSender(workspaceId)) return;
  const heir = await db.findOldestApprovedSender(workspaceId);
  if (heir) await db.updateSender(workspaceId, { ...heir, isDefault: true });
}

/** Makes a sender the default: from now on, messages that name no sender come from it. */
export async function choose(sender: db.SenderRecord): Promise<db.SenderRecord> {
  const { workspaceId, id, status } = sender;
  if (status !== 'approved')
    throw problem('sender_not_approved', {
      detail: `The sender ${id} cannot be the default, because its status is ${status}. Only an approved sender can be the default.`,
    });
  const former = await db.findDefaultSender(workspaceId);
  if (former?.id === id) return sender;
  if (former) await db.updateSender(workspaceId, { ...former, isDefault: false });
  const chosen = { ...sender, isDefault: true };
  await db.updateSender(workspaceId, chosen);
  return chosen;
}

/** Applies the changes that a customer may make to a sender. */
export async function change({ workspaceId }: Caller, id: string, changes: SenderChanges): Promise<Sender> {
  await findWorkspaceForUpdate(workspaceId);
  const sender = orNotFound(await db.findSenderForUpdate(workspaceId, id));
  return toWire(changes.default ? await choose(sender) : sender);
}
