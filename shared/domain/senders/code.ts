import { randomInt } from 'node:crypto';
import { now } from '../../common/clock.ts';
import { type Problem, problem } from '../../common/errors.ts';
import { logger } from '../../common/logger.ts';
import { count } from '../../common/metrics.ts';
import { authenticationTag, isAuthenticationTag } from '../../common/secrets.ts';
import { config } from '../../config/config.ts';
import { transaction } from '../../db/client.ts';
import * as db from '../../db/senders/senders.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { newUuid } from '../../formats/ids.ts';
import { isDramaNumber } from '../../formats/sms/phone-number.ts';
import { numberOfName } from '../../formats/sms/sender-name.ts';
import * as sms from '../../transports/sms.ts';
import * as pauses from '../sms/gateways/pauses.ts';
import * as reports from '../sms/gateways/reports.ts';
import { giveCodeBack, takeCode } from './limits.ts';

/** The codes by which a workspace proves that a mobile number is its own. */

const goodForMinutes = 10;
export const mostTries = 5;
const retryAfterSeconds = 60;
/** The tag of a code tells where the code went. The customer can read what the simulator gets. */
const purposes = { phone: 'sender code', simulator: 'simulated sender code' };

/** A code that is stored with its sender, and has been texted to nobody yet. */
export type UnsentCode = {
  workspaceId: string;
  senderId: string;
  number: string;
  digits: string;
  tag: Buffer;
  takenAt: Date;
  /** The code that this one replaced; null where the sender was made together with this one. */
  before: { code: db.CodeRecord | null } | null;
};

/**
 * Makes a code for the mobile number, and counts it in the current transaction. The caller must store `code` with the
 * sender.
 */
export async function makeCode(
  sender: db.SenderRecord,
  { isNew }: { isNew: boolean },
): Promise<{ code: db.CodeRecord; unsent: UnsentCode }> {
  const { workspaceId, id: senderId } = sender;
  const number = numberOfName(sender.name!)!;
  const takenAt = now();
  const waitMs = await takeCode(workspaceId, number, takenAt);
  if (waitMs > 0)
    throw problem('verification_limit_reached', {
      detail: `Too many codes were texted to ${sender.name}, or by this workspace. Wait for Retry-After`,
      retryAfterSeconds: waitMs / 1000,
    });
  const digits = randomInt(1_000_000).toString().padStart(6, '0');
  // Numbers that belong to nobody need no owner's proof.
  const receiver = sms.isAllSimulated() && !isDramaNumber(number) ? 'simulator' : 'phone';
  const tag = authenticationTag(purposes[receiver], `${senderId} ${digits}`);
  const expiresAt = new Date(takenAt.getTime() + goodForMinutes * 60_000);
  const before = isNew ? null : { code: sender.code };
  return {
    code: { tag, expiresAt, tries: 0 },
    unsent: { workspaceId, senderId, number, digits, tag, takenAt, before },
  };
}

/** Returns where the code went that the digits are of; null where they are not those of a valid code. */
export function receiverOf({ id, code }: db.SenderRecord, digits: string): keyof typeof purposes | null {
  if (code === null || now() >= code.expiresAt) return null;
  const isOf = (purpose: string) => isAuthenticationTag(purpose, `${id} ${digits}`, code.tag);
  if (isOf(purposes.phone)) return 'phone';
  return isOf(purposes.simulator) ? 'simulator' : null;
}

/**
 * The longest that `textCode` takes: two hand-overs, and a short transaction that may have to wait for a connection.
 */
export function textsWithinMs(): number {
  return 2 * config.SMS_TIMEOUT_SECONDS * 1000 + 25_000;
}

/**
 * Texts the code, outside of a transaction. Where the code cannot be sent, a sender that was made for it is deleted, a
 * code that it replaced is good again, and the caller gets the problem to report.
 */
export async function textCode(unsent: UnsentCode): Promise<Problem | null> {
  const { workspaceId, senderId, number, digits } = unsent;
  await pauses.heed();
  reports.begin({ onlyRefusals: true });
  const submission = await handOver({
    id: newUuid(now()).toString('hex'),
    workspaceId,
    sender: config.SMS_SYSTEM_SENDER,
    recipient: number,
    content: `${digits} is the code that lets messages be sent from this number. It works for ${goodForMinutes} minutes. If you did not ask for it, ignore this text.`,
    parts: 1,
  });
  count('sender_codes', { outcome: submission.kind });
  if (submission.kind === 'accepted') return null;
  const { kind, detail } = submission;
  logger.warn({ workspaceId, senderId, kind, detail }, 'a verification code could not be sent');
  try {
    await transaction(() => takeBack(unsent, kind));
  } catch (error) {
    logger.error({ err: error, senderId }, 'a verification code that was not sent could not be taken back');
  }
  return problem('verification_not_sent', {
    detail: `The code could not be texted to ${number}. Send this request again later`,
    retryAfterSeconds,
  });
}

/** The customer waits for the code. So where a gateway does not take it now, the next one that fits is asked, once. */
async function handOver(message: sms.TextMessage): Promise<sms.Submission> {
  const gateway = sms.gatewayFor(message);
  const submission = await sms.submit(message, gateway);
  if (!gateway || submission.kind !== 'later') return submission;
  const next = sms.gatewayFor({ ...message, except: gateway.name });
  return next && next !== gateway ? sms.submit(message, next) : submission;
}

async function takeBack(
  { workspaceId, senderId, number, tag, takenAt, before }: UnsentCode,
  kind: 'refused' | 'later' | 'unavailable',
): Promise<void> {
  await findWorkspaceForUpdate(workspaceId);
  const sender = await db.findSenderForUpdate(workspaceId, senderId);
  // Another request may have made another code since.
  const code = sender?.code?.tag.equals(tag) ? sender.code : null;
  // A gateway that gave no answer may have sent the code, so the code stays counted: faults of the gateway must not
  // flood the phone. So does a code that may have been guessed at: while the gateway takes nothing, the limits of codes
  // are all that ends the guesses.
  if (kind !== 'unavailable' && code?.tries === 0) await giveCodeBack(workspaceId, number, takenAt, now());
  if (!sender || !code) return;
  if (before) await db.updateSender(workspaceId, { ...sender, code: before.code });
  else await db.deleteSender(workspaceId, senderId);
}
