import { transaction } from '../../../db/client.ts';
import type { EmailRecord } from '../../../db/email/emails.ts';
import { findEmailOfLink } from '../../../db/email/opens.system.ts';
import { findWorkspace } from '../../../db/workspace/workspaces.ts';
import { addressOf } from '../../../formats/email/address.ts';
import * as suppressions from '../../suppressions.ts';
import { readLink } from './links.ts';

/** The marketing email that a link stops, in words for the recipient. */
export type OptOut = { workspaceName: string; sender: string; recipient: string };

/** The email and recipient of a link; null where it is not ours, or the email is no longer kept. */
export async function find(token: string): Promise<OptOut | null> {
  const email = await findEmail(token);
  return email && describe(email);
}

/**
 * Stops marketing email of the workspace to the recipient (API decisions §7). Idempotent: every call gets the same
 * answer.
 */
export async function optOut(token: string): Promise<OptOut | null> {
  const email = await findEmail(token);
  if (!email) return null;
  await transaction(() =>
    suppressions.addRecipient(email, 'marketing', 'web', `The opt-out link of ${email.id}`),
  );
  return describe(email);
}

async function describe({ workspaceId, sender, recipient }: EmailRecord): Promise<OptOut | null> {
  const workspace = await findWorkspace(workspaceId);
  return (
    workspace && {
      workspaceName: workspace.name,
      sender: addressOf(sender),
      recipient: masked(addressOf(recipient)),
    }
  );
}

async function findEmail(token: string): Promise<EmailRecord | null> {
  const emailId = readLink('unsubscribe', token);
  return emailId === null ? null : findEmailOfLink(emailId);
}

/** The recipient knows the address; a reader of a forwarded copy need not learn it. */
function masked(recipient: string): string {
  const at = recipient.lastIndexOf('@');
  return `${[...recipient][0]}…${recipient.slice(at)}`;
}
