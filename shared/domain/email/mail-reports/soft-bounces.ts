import { type EmailRecord, hasEmailTo, listEndsOfRecipient } from '../../../db/email/emails.ts';
import * as suppressions from '../../suppressions.ts';

const fewest = 5;
const dayMs = 86_400_000;
const leastMs = 7 * dayMs;
/** The most emails that are read in one page, and in all pages: a busy address gets hundreds of emails a day. */
const [pageSize, mostChecked] = [500, 20_000];
/** An email ends within this time after it was accepted, unless it was scheduled for later. */
const longestCourseMs = 3 * dayMs;

/**
 * Notes that an email has just failed as a soft bounce, in the current transaction. After five soft bounces over at
 * least seven days, with no delivery between them, the address is suppressed (API decisions §7): nobody reads mail
 * there any more, and more email to it harms the sender's reputation.
 */
export async function noteSoftBounce(email: EmailRecord): Promise<void> {
  const { workspaceId, recipientKey, updatedAt } = email;
  // The first bounce must be old enough. Otherwise all that an address got within the last days would be read.
  const firstBy = new Date(updatedAt.getTime() - leastMs + 1);
  if (!(await hasEmailTo(workspaceId, recipientKey, firstBy))) return;
  const bounces = await earlierBounces(email);
  if (!isEnough(email, bounces)) return;
  const since = new Date(Math.min(...bounces)).toISOString().slice(0, 10);
  const reason = `${bounces.length + 1} soft bounces since ${since}`;
  await suppressions.addRecipient(email, 'all', 'system', reason);
}

/** `bounces`: the times of those before this email. */
function isEnough(email: EmailRecord, bounces: number[]): boolean {
  return bounces.length + 1 >= fewest && email.updatedAt.getTime() - Math.min(...bounces) >= leastMs;
}

/** Returns the times of the recipient's soft bounces since the last delivery, as far back as the decision needs. */
async function earlierBounces(email: EmailRecord): Promise<number[]> {
  const { workspaceId, recipientKey } = email;
  let delivered = 0;
  let bounces: number[] = [];
  let before: string | null = null;
  for (let checked = 0; checked < mostChecked; checked += pageSize) {
    const page = await listEndsOfRecipient(workspaceId, recipientKey, { before, limit: pageSize });
    const earlier = page.filter(({ id }) => id !== email.id);
    delivered = Math.max(delivered, ...earlier.map(deliveryTime));
    const ended = earlier.filter(isSoftBounce).map(({ updatedAt }) => updatedAt.getTime());
    bounces = [...bounces, ...ended].filter((time) => time > delivered);
    // A delivery within the last seven days decides already: most addresses have one on the first page.
    if (page.length < pageSize || email.updatedAt.getTime() - delivered < leastMs) break;
    const decidedAt = Math.max(delivered, isEnough(email, bounces) ? Math.min(...bounces) : 0);
    const { id, createdAt } = page.at(-1)!;
    if (createdAt.getTime() < decidedAt - longestCourseMs) break;
    before = id;
  }
  return bounces;
}

/** An email that was reported as delivered and then bounced was not delivered. Returns 0 for no delivery. */
function deliveryTime({ status, deliveredAt }: Pick<EmailRecord, 'status' | 'deliveredAt'>): number {
  return status === 'delivered' && deliveredAt ? deliveredAt.getTime() : 0;
}

/** Returns whether the recipient's server caused the failure of an email, so that it counts against the address. */
export function isSoftBounce({ status, reason }: Pick<EmailRecord, 'status' | 'reason'>): boolean {
  return status === 'failed' && reason?.category === 'soft_bounce' && !isRelayFault(reason.code);
}

/**
 * An email that our relay did not take for two days ends as a soft bounce too, with a code of the relay's. The
 * recipient's server was never asked, so an outage of ours must not suppress an address (API decisions §7).
 */
function isRelayFault(code: string): boolean {
  return code.startsWith('relay_');
}
