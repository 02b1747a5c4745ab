import { config } from '../../config/config.ts';
import { findTestRecipientVerified } from '../../db/email/test-recipients.ts';
import { compareKey, type Mailbox } from '../../formats/email/address.ts';
import { systemWorkspaceId } from '../workspace/workspaces.ts';
import { findSigningDomain, type SigningDomain } from './domains/domains.ts';

/**
 * Says whether an email may go out in the name of its sender. `domain` signs the email; null: the email goes out
 * unsigned.
 */
export type Sending =
  | { maySend: true; domain: SigningDomain | null }
  | { maySend: false; because: 'domain' | 'recipient' };

/** Decides whether a sender may send. Called when an email is accepted, and again when it is due. */
export async function findSending(
  workspaceId: string,
  sender: Mailbox,
  recipient: Mailbox | null,
): Promise<Sending> {
  const isSystem = workspaceId === systemWorkspaceId;
  if (isTestSender(sender) && !isSystem) {
    const isReached =
      recipient && (await findTestRecipientVerified(workspaceId, compareKey(recipient.address)));
    if (!isReached) return { maySend: false, because: 'recipient' };
    return { maySend: true, domain: await findSigningDomain(systemWorkspaceId, sender.domain) };
  }
  const domain = await findSigningDomain(workspaceId, sender.domain);
  // The operator chose the sender of the platform's own mail, and the relay may sign it.
  return domain || isSystem ? { maySend: true, domain } : { maySend: false, because: 'domain' };
}

/** The address that every workspace may send from, to its verified test recipients only. */
export function isTestSender(sender: Mailbox): boolean {
  const setting = config.TEST_SENDER;
  return setting !== undefined && compareKey(sender.address) === compareKey(setting);
}
