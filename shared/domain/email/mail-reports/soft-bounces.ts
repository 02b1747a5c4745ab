import { type EmailRecord, listEndsOfRecipient } from '../../../db/email/emails.ts';
import * as suppressions from '../../suppressions.ts';

const fewest = 5;
const leastMs = 7 * 86_400_000;
const mostChecked = 200;

/**
 * An email has just failed as a soft bounce, in the current transaction. Five of them over at least seven days with no
 * delivery between, and the address is suppressed (API decisions §7): nobody reads there any more, and to go on harms the sender.
 */
export async function noteSoftBounce(email: EmailRecord): Promise<void> {
  const { workspaceId, recipientKey } = email;
  const earlier = (await listEndsOfRecipient(workspaceId, recipientKey, mostChecked)).filter(
    ({ id }) => id !== email.id,
  );
  const delivered = Math.max(0, ...earlier.map(({ deliveredAt }) => deliveredAt?.getTime() ?? 0));
  const bounced = earlier
    .filter(isSoftBounce)
    .map(({ updatedAt }) => updatedAt.getTime())
    .filter((time) => time > delivered);
  const since = Math.min(...bounced);
  if (bounced.length + 1 < fewest || email.updatedAt.getTime() - since < leastMs) return;
  const reason = `${bounced.length + 1} soft bounces since ${new Date(since).toISOString().slice(0, 10)}`;
  await suppressions.addRecipient(email, 'all', 'system', reason);
}

/** Whether an email has ended by the doing of its recipient's server, so that it counts against the address. */
export function isSoftBounce({ status, reason }: Pick<EmailRecord, 'status' | 'reason'>): boolean {
  return status === 'failed' && reason?.category === 'soft_bounce' && !isRelayFault(reason.code);
}

/**
 * An email that our relay did not take for two days ends as a soft bounce too, with a code of the relay's. Nobody asked
 * the recipient's server, so an outage of ours must not suppress an address (API decisions §7).
 */
function isRelayFault(code: string): boolean {
  return code.startsWith('relay_');
}
