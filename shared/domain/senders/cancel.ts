import { problem } from '../../common/errors.ts';
import * as db from '../../db/senders/senders.ts';
import { listSendersOfBatches } from '../../db/sms/batches/senders.ts';
import { findHasWaitingSmsFrom } from '../../db/sms/messages.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { numberOfName, senderKeysOf } from '../../formats/sms/sender-name.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { passDefaultOn } from './default.ts';

/** The sender goes; one that is approved only when no message waits to be sent with it. A rejection outlives it. */
export async function cancel({ workspaceId }: Caller, id: string): Promise<void> {
  await findWorkspaceForUpdate(workspaceId);
  const sender = await db.findSenderForUpdate(workspaceId, id);
  if (!sender) throw problem('not_found');
  if (sender.kind === 'virtual_number')
    throw problem('not_cancellable', {
      detail: 'A virtual number is given and taken back by the operator: ask them.',
    });
  if (sender.status === 'approved') await refuseIfInUse(sender);
  const rejected = sender.countries.filter(({ status }) => status === 'rejected');
  await db.insertSenderRejections(workspaceId, sender.nameKey!, rejected);
  await db.deleteSender(workspaceId, id);
  if (sender.isDefault) await passDefaultOn(workspaceId);
}

async function refuseIfInUse(sender: db.SenderRecord): Promise<void> {
  const waits =
    ((await hasMessages(sender)) && 'messages wait') || ((await hasBatch(sender)) && 'a batch has messages');
  if (waits)
    throw problem('in_use', {
      detail: `The sender ${sender.id} stays, because ${waits} to be sent with it. Cancel them, or wait until they are sent.`,
    });
}

function hasMessages({ workspaceId, name }: db.SenderRecord): Promise<boolean> {
  return findHasWaitingSmsFrom(workspaceId, numberOfName(name!) ?? name!);
}

async function hasBatch({ workspaceId, nameKey, isDefault }: db.SenderRecord): Promise<boolean> {
  const named = await listSendersOfBatches(workspaceId);
  return named.some((text) => (text === null ? isDefault : senderKeysOf(text).includes(nameKey!)));
}
