import { now } from '../../../common/clock.ts';
import { count } from '../../../common/metrics.ts';
import { findContactIdOfNumber } from '../../../db/contacts/contacts.ts';
import * as db from '../../../db/sms/messages.ts';
import { partsOf } from '../../../formats/sms/gsm-7.ts';
import { parsePhoneNumber } from '../../../formats/sms/phone-number.ts';
import * as conversations from '../../conversations/conversations.ts';
import * as events from '../../events/events.ts';
import * as suppressions from '../../suppressions.ts';
import * as workspaces from '../../workspace/workspaces.ts';
import { keywordIn } from '../opt-out.ts';
import { eventOf, newSms } from '../record.ts';
import * as stopReply from './stop-reply.ts';

/** Numbers in E.164; `to` may be the name that is answered. */
export type InboundText = { from: string; to: string; content: string };

const repliesWithinMs = 30 * 86_400_000;

/** Must run before the transaction in which the text is received. */
export const expect = (workspaceId: string, { from, to }: Pick<InboundText, 'from' | 'to'>) =>
  conversations.expect(workspaceId, { number: from, sender: to });

/**
 * Receives a text for the workspace, in the current transaction. A text that says STOP and nothing else suppresses the
 * number. START lifts that suppression, and no suppression of another origin (API decisions §8). The workspace may have
 * words of its own, and an answer to STOP.
 */
export async function receive(
  workspaceId: string,
  { from, to, content }: InboundText,
): Promise<db.SmsRecord> {
  const at = now();
  const { encoding, parts } = partsOf(content);
  const number = parsePhoneNumber(from);
  const answered = await db.findLastSmsTo(workspaceId, from, new Date(at.getTime() - repliesWithinMs));
  const message = newSms(at, {
    workspaceId,
    direction: 'inbound',
    status: 'received',
    sender: from,
    recipient: to,
    content,
    country: number.ok ? number.country : null,
    parts: Math.max(1, parts.length),
    encoding,
    cost: { gbp: null, eur: null },
    lineageId: null,
    contactId: await findContactIdOfNumber(workspaceId, from),
    inReplyTo: answered?.id ?? null,
    dueAt: null,
  });
  await db.insertSms(workspaceId, message);
  await events.record(workspaceId, eventOf(message));
  const workspace = await workspaces.findRecent(workspaceId);
  const keyword = keywordIn(content, workspace);
  if (keyword === 'stop') await suppressions.add(workspaceId, { number: from, email: null }, 'stop', null);
  if (keyword === 'start') await suppressions.liftStop(workspaceId, from);
  const addToConversation = await conversations.addInbound(workspaceId, message);
  const isAnswered =
    keyword === 'stop' && workspace && workspace.stopReply !== null && !workspace.sendingBlocked;
  const answer = isAnswered ? await stopReply.answer(message, workspace.stopReply!) : null;
  // Last, because a text that goes out locks the balance before its conversation.
  await addToConversation(answer);
  count('sms_received');
  return message;
}
