import { now } from '../../common/clock.ts';
import { orNotFound, problem } from '../../common/errors.ts';
import * as db from '../../db/senders/senders.ts';
import { listSendersOfBatches, listSendersOfRows } from '../../db/sms/batches/senders.ts';
import { findHasWaitingSmsFrom } from '../../db/sms/messages.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { numberOfName, senderKeysOf } from '../../formats/sms/sender-name.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { passDefaultOn } from './default.ts';

/** Deletes a sender; an approved one only where no message waits to be sent with it. Its rejections stay. */
export async function cancel({ workspaceId }: Caller, id: string): Promise<void> {
  const before = await db.findSender(workspaceId, id);
  const isChecked = before?.status === 'approved' && before.kind !== 'virtual_number';
  // There may be millions of messages and rows, and much waits for the workspace while it is locked. So all messages
  // and rows are checked before the lock, and under the lock only those that have come since.
  const looked = isChecked ? await refuseIfInUse(before, null) : null;
  await findWorkspaceForUpdate(workspaceId);
  const sender = orNotFound(await db.findSenderForUpdate(workspaceId, id));
  if (sender.kind === 'virtual_number')
    throw problem('not_cancellable', {
      detail: 'Only the operator can remove a virtual number. Ask the operator.',
    });
  if (sender.status === 'approved') await refuseIfInUse(sender, looked);
  const rejected = sender.countries.filter(({ status }) => status === 'rejected');
  await db.insertSenderRejections(workspaceId, sender.nameKey!, rejected);
  await db.deleteSender(workspaceId, id);
  if (sender.isDefault) await passDefaultOn(workspaceId);
}

/** A search for uses of a sender, which has found none. `unused`: batches whose rows do not name the sender. */
type Look = { at: Date; unused: Set<string> };

// A message may be stored this much later than its id was made.
const slackMs = 60_000;

async function refuseIfInUse(sender: db.SenderRecord, before: Look | null): Promise<Look> {
  const look: Look = { at: now(), unused: new Set(before?.unused) };
  const waits =
    ((await hasMessages(sender, before)) && 'messages wait to be sent with it') ||
    ((await hasBatch(sender, look)) && 'a batch will send messages with it');
  if (waits)
    throw problem('in_use', {
      detail: `The sender ${sender.id} cannot be removed, because ${waits}. Cancel them, or wait until they are sent.`,
    });
  return look;
}

function hasMessages({ workspaceId, name }: db.SenderRecord, before: Look | null): Promise<boolean> {
  const since = before && new Date(before.at.getTime() - slackMs);
  return findHasWaitingSmsFrom(workspaceId, numberOfName(name!) ?? name!, since);
}

/**
 * Returns whether a batch uses the sender. Also notes the batches whose rows do not name it: their rows do not change
 * any more.
 */
async function hasBatch(
  { workspaceId, nameKey, isDefault }: db.SenderRecord,
  { unused }: Look,
): Promise<boolean> {
  const isNamed = (text: string) => senderKeysOf(text).includes(nameKey!);
  for (const { batchId, sender, senders } of await listSendersOfBatches(workspaceId)) {
    if (sender === null ? isDefault : isNamed(sender)) return true;
    if (unused.has(batchId) || (senders && !senders.includes(nameKey!))) continue;
    if ((await listSendersOfRows(workspaceId, batchId)).some(isNamed)) return true;
    unused.add(batchId);
  }
  return false;
}
