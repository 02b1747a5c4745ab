import { invalid, problem } from '../../common/errors.ts';
import { transaction } from '../../db/client.ts';
import { findWorkspaceOfSender, listSendersToReview } from '../../db/senders/senders.system.ts';
import * as db from '../../db/senders/senders.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import type { Sender, SenderCountryStatus } from '../../schemas/senders.ts';
import { choose, passDefaultOn, withDefault } from './default.ts';
import { statusOf, toWire } from './record.ts';

/** Decisions of the operator, who knows a sender by its id alone. */

const longestReason = 256;

/** Changes a sender, with the workspace and the sender locked. Throws where there is no such sender. */
export async function changing(
  senderId: string,
  change: (sender: db.SenderRecord) => Promise<db.SenderRecord>,
): Promise<Sender> {
  return transaction(async () => {
    const workspaceId = await findWorkspaceOfSender(senderId);
    if (workspaceId) await findWorkspaceForUpdate(workspaceId);
    const sender = workspaceId && (await db.findSenderForUpdate(workspaceId, senderId));
    if (!sender) throw problem('not_found', { detail: `There is no sender ${senderId}` });
    const changed = await change(sender);
    if (sender.isDefault && !changed.isDefault) await passDefaultOn(sender.workspaceId);
    return toWire(changed);
  });
}

/** Approves the sender for these countries, which must be among those that it was requested for. */
export async function approve(senderId: string, countries: readonly string[]): Promise<Sender> {
  return changing(senderId, (sender) => {
    const waits = {
      awaiting_verification: 'the code that was texted to it has not been given back',
      awaiting_business_verification: `its business profile ${sender.businessProfileId} is not verified`,
    }[sender.status as string];
    if (waits) throw problem('in_use', { detail: `${senderId} cannot be approved yet: ${waits}` });
    return decide(sender, countries, 'approved', null);
  });
}

export async function reject(
  senderId: string,
  countries: readonly string[],
  reason: string,
): Promise<Sender> {
  if (reason === '' || [...reason].length > longestReason)
    throw invalid('reason', `must have 1 to ${longestReason} characters`);
  return changing(senderId, (sender) => decide(sender, countries, 'rejected', reason));
}

async function decide(
  sender: db.SenderRecord,
  names: readonly string[],
  status: SenderCountryStatus,
  reason: string | null,
): Promise<db.SenderRecord> {
  const { workspaceId } = sender;
  if (sender.kind === 'virtual_number')
    throw problem('in_use', { detail: `${sender.id} is a virtual number: assign or unassign it` });
  const unknown = names.filter((name) => !sender.countries.some(({ country }) => country === name));
  if (names.length === 0 || unknown.length > 0)
    throw invalid('countries', `must be of those requested, which ${unknown.join(', ') || 'none'} is not`);
  const decided = sender.countries
    .filter(({ country }) => names.includes(country))
    .map(({ country }) => ({ country, status, reason }));
  await db.updateSenderCountries(workspaceId, sender.id, decided);
  if (status === 'approved')
    for (const country of names) await db.deleteSenderRejection(workspaceId, sender.nameKey!, country);
  const countries = sender.countries.map(
    (known) => decided.find(({ country }) => country === known.country) ?? known,
  );
  const changed = await withDefault(standing({ ...sender, countries }));
  await db.updateSender(workspaceId, changed);
  return changed;
}

/**
 * Applies a decision to the status. A sender that waits for a code or a business profile keeps waiting, unless all its
 * countries are rejected.
 */
function standing(sender: db.SenderRecord): db.SenderRecord {
  const status = statusOf(sender.countries);
  const waits = sender.status.startsWith('awaiting_') && status !== 'rejected';
  return waits ? sender : { ...sender, status, code: status === 'rejected' ? null : sender.code };
}

export const makeDefault = (senderId: string): Promise<Sender> => changing(senderId, choose);

type ToReview = { workspaceId: string; sender: Sender };

/** Senders with a country that nobody has decided on, of one workspace or of all; oldest first. */
export async function listToReview(only: string | null, limit: number): Promise<ToReview[]> {
  const waiting: ToReview[] = [];
  for (const { id, workspaceId } of await listSendersToReview(only, limit)) {
    const record = await db.findSender(workspaceId, id);
    if (record) waiting.push({ workspaceId, sender: toWire(record) });
  }
  return waiting;
}
