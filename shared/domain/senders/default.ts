import * as db from '../../db/senders.ts';

/** The first sender that is approved is the default, until the operator chooses another. The workspace is locked. */
export async function withDefault(sender: db.SenderRecord): Promise<db.SenderRecord> {
  if (sender.status !== 'approved') return { ...sender, isDefault: false };
  const isDefault = sender.isDefault || (await db.findDefaultSender(sender.workspaceId)) === null;
  return { ...sender, isDefault };
}
