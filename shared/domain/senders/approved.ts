import * as db from '../../db/senders/senders.ts';
import { numberOfName, senderKeysOf } from '../../formats/sms/sender-name.ts';
import type { SenderKind } from '../../schemas/senders.ts';
import { isUnproven, unproven } from './record.ts';

type ApprovedSender = {
  id: string;
  kind: SenderKind;
  /** As its record shows it. */
  name: string;
  /** The address as a gateway gets it: the name, or the number in E.164. */
  address: string;
};
/**
 * `message` continues the name of the field: "sender is not approved for FR". `address` is that of the requested
 * sender, or null if the workspace has no such sender.
 */
export type Approved =
  | { ok: true; sender: ApprovedSender }
  | { ok: false; message: string; address: string | null };

/**
 * Finds the sender of a message to that country: the sender of this name, or of this number in any form, or the default
 * where none is named. `mayLeave`: a carrier may get the message.
 */
export async function findApproved(
  workspaceId: string,
  name: string | null,
  country: string | null,
  mayLeave: boolean,
): Promise<Approved> {
  const sender = await findSender(workspaceId, name);
  const message = refusalOf(sender, name);
  if (!sender) return { ok: false, message: message!, address: null };
  const { id, kind } = sender;
  const shown = sender.name!;
  const address = (kind === 'sender_name' && numberOfName(shown)) || shown;
  if (message !== null) return { ok: false, message, address };
  if (country === null)
    return {
      ok: false,
      message: 'cannot be chosen, because the country of the recipient is unknown',
      address,
    };
  const status = sender.countries.find((one) => one.country === country)?.status;
  if (status !== 'approved')
    return { ok: false, message: `cannot be ${shown}: ${reasonOf(status)} for ${country}`, address };
  if (mayLeave && isUnproven(sender))
    return { ok: false, message: `cannot be ${shown}: ${unproven}`, address };
  return { ok: true, sender: { id, kind, name: shown, address } };
}

/** Returns why nothing can be sent from this sender to any country; null where it may be used for some. */
export async function checkSender(workspaceId: string, name: string | null): Promise<string | null> {
  return refusalOf(await findSender(workspaceId, name), name);
}

/** Lists the keys by which a request may name a sender of the workspace. */
export const listKeys = db.listSenderKeys;

/** The reason for refusing a sender whose key is not among `listKeys`. */
export const unknownSender = 'is not a sender of this workspace';

function findSender(workspaceId: string, name: string | null): Promise<db.SenderRecord | null> {
  return name === null ? db.findDefaultSender(workspaceId) : named(workspaceId, name);
}

function refusalOf(sender: db.SenderRecord | null, name: string | null): string | null {
  if (!sender)
    return name === null ? 'is required, because the workspace has no default sender' : unknownSender;
  return sender.status.startsWith('awaiting_')
    ? `cannot be ${sender.name!} yet: its status is ${sender.status}`
    : null;
}

function reasonOf(status: string | undefined): string {
  if (status === undefined) return 'it was not requested';
  return status === 'rejected' ? 'it was rejected' : 'it is not approved yet';
}

async function named(workspaceId: string, name: string): Promise<db.SenderRecord | null> {
  const keys = senderKeysOf(name);
  const found = await db.listSendersByKey(workspaceId, keys);
  return found.toSorted((one, other) => keys.indexOf(one.nameKey!) - keys.indexOf(other.nameKey!))[0] ?? null;
}
