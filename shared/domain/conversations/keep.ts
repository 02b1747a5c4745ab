import { now } from '../../clock.ts';
import * as db from '../../db/conversations.ts';
import type { SmsRecord } from '../../db/sms-messages.ts';
import { findPairTotals, waitForSmsTo } from '../../db/sms-of-conversations.ts';
import { newId } from '../../formats/ids.ts';
import { type Pair, pairOf } from '../../formats/text-pair.ts';

/**
 * A conversation begins with the first text that comes in, and has all texts of its pair from then on. So a text that goes
 * out looks for its conversation once it is stored itself, and the first text in counts what is stored:
 *
 * 1. `expect` commits a conversation that is not open. A text that looks from here on finds it, and adds to it.
 * 2. `addInbound` waits for texts that are being stored: a text that has looked before is stored by then.
 * 3. It locks the conversation, counts the texts of the pair, and opens it. A text that has not been added yet waits for the
 *    lock; it is not committed, so it is not among those counted.
 *
 * Nobody waits in a circle: while it waits for others' texts, `addInbound` has locked nothing that a text which goes out
 * needs. A conversation is locked last, behind messages, balance and key usage.
 */

// No transaction takes longer, so older texts are committed.
const inFlightMs = 10 * 60_000;

/** Before the transaction that `addInbound` belongs to. */
export async function expect(workspaceId: string, pair: Pair): Promise<void> {
  if (await db.findConversationOf(workspaceId, pair)) return;
  await db.insertConversation(workspaceId, newId('conversation', now()), pair, now());
}

/** In the transaction that has stored the text which came in. */
export async function addInbound(workspaceId: string, text: SmsRecord): Promise<void> {
  const pair = pairOf(text);
  const found = await db.findConversationOf(workspaceId, pair);
  if (found?.isOpen && (await db.updateConversationAdded(workspaceId, text))) return;
  await waitForSmsTo(workspaceId, pair.number, new Date(text.createdAt.getTime() - inFlightMs));
  const conversation = await lock(workspaceId, pair);
  if (conversation.isOpen) {
    await db.updateConversationAdded(workspaceId, text);
    return;
  }
  const { inbound, outbound } = await findPairTotals(workspaceId, pair);
  const lastIds = [inbound.lastId, outbound.lastId].filter((id) => id !== null).toSorted();
  await db.updateConversationOpened(workspaceId, {
    ...conversation,
    inboundCount: inbound.texts,
    outboundCount: outbound.texts,
    lastInboundAt: inbound.lastAt,
    lastOutboundAt: outbound.lastAt,
    lastActivityAt: later(inbound.lastAt, outbound.lastAt),
    lastSmsId: lastIds.at(-1)!,
  });
}

/** Makes it where it has gone since it was expected. */
async function lock(workspaceId: string, pair: Pair): Promise<db.ConversationRecord> {
  const locked = await db.findConversationForUpdate(workspaceId, pair);
  if (locked) return locked;
  await db.insertConversation(workspaceId, newId('conversation', now()), pair, now());
  return (await db.findConversationForUpdate(workspaceId, pair))!;
}

function later(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}

/** In the transaction that has stored the text, last: other texts of the pair wait from here to its end. */
export async function addSent(workspaceId: string, text: SmsRecord): Promise<void> {
  await db.updateConversationAdded(workspaceId, text);
}

/**
 * The same of many texts, in two steps: the first, which looks for their conversations, comes once they are stored. It
 * returns the second, which belongs behind all else of the transaction.
 */
export async function addSentOfMany(workspaceId: string, texts: SmsRecord[]): Promise<() => Promise<void>> {
  const sent = await db.listConversationIdsOf(workspaceId, texts);
  return () => db.updateManyConversationsSent(workspaceId, sent);
}
