import { invalid, orNotFound, problem } from '../../common/errors.ts';
import { transaction } from '../../db/client.ts';
import * as db from '../../db/senders/senders.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { parsePhoneNumber } from '../../formats/sms/phone-number.ts';
import type { Sender } from '../../schemas/senders.ts';
import { orTaken } from '../requests/refusals.ts';
import { checkedCountries } from './add-approved.ts';
import { withDefault } from './default.ts';
import { newSender, toWire } from './record.ts';
import { changing } from './review.ts';

/** Numbers that take replies: the operator gives them, and takes them back. */

/**
 * Adds a virtual number, which has no digits yet, to the workspace. Without `countries` it is for the country of the
 * workspace.
 */
export async function addNumber(workspaceId: string, countries: readonly string[] = []): Promise<Sender> {
  return transaction(async () => {
    const workspace = orNotFound(await findWorkspaceForUpdate(workspaceId), 'There is no such workspace');
    const sender = newSender({
      workspaceId,
      kind: 'virtual_number',
      name: null,
      nameKey: null,
      status: 'pending',
      countries: checkedCountries(countries.length > 0 ? countries : [workspace.country], 'pending'),
    });
    await db.insertSender(workspaceId, sender);
    return toWire(sender);
  });
}

/** Assigns the number: from now on texts to it are for its workspace, which may send from it. */
export async function assignNumber(senderId: string, text: string): Promise<Sender> {
  const parsed = parsePhoneNumber(text);
  if (!parsed.ok) throw invalid('number', parsed.message);
  const { number } = parsed;
  return changing(senderId, async (sender) => {
    checkKind(sender);
    return orTaken(become(sender, number), 'number_taken', `${number} is assigned already`);
  });
}

export async function unassignNumber(senderId: string): Promise<Sender> {
  return changing(senderId, async (sender) => {
    checkKind(sender);
    return become(sender, null);
  });
}

async function become(sender: db.SenderRecord, number: string | null): Promise<db.SenderRecord> {
  const status = number === null ? 'pending' : 'approved';
  const countries = sender.countries.map((country) => ({ ...country, status, reason: null }) as const);
  const changed = await withDefault({
    ...sender,
    name: number,
    nameKey: number,
    virtualNumber: number,
    status,
    countries,
  });
  await db.updateSender(sender.workspaceId, changed);
  await db.updateSenderCountries(sender.workspaceId, sender.id, countries);
  return changed;
}

export async function removeNumber(senderId: string): Promise<Sender> {
  return changing(senderId, async (sender) => {
    checkKind(sender);
    if (sender.virtualNumber !== null)
      throw problem('in_use', { detail: `${sender.virtualNumber} is assigned: unassign it first` });
    await db.deleteSender(sender.workspaceId, senderId);
    return sender;
  });
}

function checkKind({ id, kind }: db.SenderRecord): void {
  if (kind !== 'virtual_number') throw problem('not_found', { detail: `${id} is not a virtual number` });
}
