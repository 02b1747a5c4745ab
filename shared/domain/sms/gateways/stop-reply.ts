import { now } from '../../../common/clock.ts';
import { count } from '../../../common/metrics.ts';
import { insertSms, type SmsRecord } from '../../../db/sms/messages.ts';
import { deleteStopReply, insertStopReply } from '../../../db/sms/stop-replies.ts';
import { newId } from '../../../formats/ids.ts';
import { partsOf } from '../../../formats/sms/gsm-7.ts';
import { hasRoute, mayLeave } from '../../../transports/sms.ts';
import * as events from '../../events/events.ts';
import { findApproved } from '../../senders/senders.ts';
import * as balance from '../balance.ts';
import { admit } from '../delivery/admission.ts';
import { costOf, priceOf } from '../prices.ts';
import { eventOf } from '../record.ts';

/** One answer in this time, so that two machines do not answer each other for ever. */
const againAfterMs = 86_400_000;

/**
 * Answers a text that says STOP with the workspace's own words, at most once a day to a number. The suppression does
 * not stop the answer. The answer costs as much as any text; if the balance is too low, nothing is sent. Call it in the
 * transaction that stores the STOP, so that a kill leaves both or none. Call it before that transaction locks the
 * conversation.
 */
export async function answer(stop: SmsRecord, content: string): Promise<SmsRecord | null> {
  const answered = await tryToAnswer(stop, content);
  const outcome = typeof answered === 'string' ? answered : 'accepted';
  count('sms_stop_replies', { outcome });
  return typeof answered === 'string' ? null : answered;
}

async function tryToAnswer(
  stop: SmsRecord,
  content: string,
): Promise<SmsRecord | 'repeated' | 'unpaid' | 'no_way'> {
  const { workspaceId, country } = stop;
  const [sender, recipient] = [stop.recipient, stop.sender];
  // A short code or a name can send texts, and cannot receive them; its country is not known.
  if (country === null || !hasRoute({ sender, recipient })) return 'no_way';
  if (!(await findApproved(workspaceId, sender, country, mayLeave(recipient))).ok) return 'no_way';
  const reply = await replyTo(stop, content);
  const at = reply.createdAt;
  const after = new Date(at.getTime() - againAfterMs);
  if (!(await insertStopReply(workspaceId, { number: recipient, smsId: reply.id }, { at, after })))
    return 'repeated';
  const isFree = (await balance.find(workspaceId)) === null;
  const charged = isFree || reply.cost.gbp !== null ? await balance.charge(reply) : null;
  if (charged === null) {
    await deleteStopReply(workspaceId, recipient);
    return 'unpaid';
  }
  const message = admit({ ...reply, charged });
  await insertSms(workspaceId, message);
  await events.record(workspaceId, eventOf(message));
  return message;
}

async function replyTo(stop: SmsRecord, content: string): Promise<SmsRecord> {
  const at = now();
  const { encoding, parts } = partsOf(content);
  return {
    ...stop,
    id: newId('sms', at),
    direction: 'outbound',
    status: 'queued',
    sender: stop.recipient,
    recipient: stop.sender,
    content,
    parts: parts.length,
    encoding,
    cost: costOf(parts.length, await priceOf(stop.country, at)),
    inReplyTo: stop.id,
    createdAt: at,
    updatedAt: at,
    dueAt: at,
  };
}
