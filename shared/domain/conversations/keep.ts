import { now } from '../../common/clock.ts';
import { config } from '../../config/config.ts';
import { outsideTransaction } from '../../db/client.ts';
import * as db from '../../db/conversations/conversations.ts';
import type { SmsRecord } from '../../db/sms/messages.ts';
import { findPairTotals, type PairTotal, waitForSmsTo } from '../../db/sms/of-conversations.ts';
import { firstUuidAt, newId } from '../../formats/ids.ts';
import { type Pair, pairOf } from '../../formats/text-pair.ts';

/**
 * A conversation begins with the first text that comes in, and has all texts of its pair from then on. So a text that
 * goes out looks for its conversation once it is stored itself, and the first text in counts what is stored:
 *
 * 1. `expect` commits a conversation that is not open. A text that looks from here on finds it, and adds to it.
 * 2. `addInbound` waits for texts that are being stored: a text that has looked before is stored by then.
 * 3. It locks the conversation, counts the texts of the pair, and opens it. A text that has not been added yet waits
 *    for the lock; it is not committed, so it is not among those counted.
 *
 * There is no deadlock: while `addInbound` waits for others' texts, it has locked nothing that a text which goes out
 * needs. A conversation is locked last, behind messages, balance and key usage, and always by its id.
 *
 * If retention deletes the conversation meanwhile, `addInbound` begins again. A text that goes out need not: it is
 * stored, so the `addInbound` that makes the conversation anew waits for the text and counts it.
 */

// No transaction takes longer, so older texts are committed.
const inFlightMs = 10 * 60_000;
const dayMs = 86_400_000;
/** Retention deletes nothing younger than its time, and ids are dated nearly as their texts are. */
const retentionSlackMs = 3_600_000;

/**
 * Makes the conversation of the pair where there is none. Must run before the transaction that `addInbound` belongs to.
 */
export async function expect(workspaceId: string, pair: Pair): Promise<void> {
  if (await db.findConversationOf(workspaceId, pair)) return;
  await db.insertConversation(workspaceId, newId('conversation', now()), pair, now());
}

/** Adds a text that came in to its conversation. Must run last in the transaction that has stored the text. */
export async function addInbound(workspaceId: string, text: SmsRecord): Promise<void> {
  const pair = pairOf(text);
  for (;;) {
    const found = await db.findConversationOf(workspaceId, pair);
    if (!found) await outsideTransaction(() => expect(workspaceId, pair));
    else if (found.isOpen) {
      if (await db.updateConversationAdded(workspaceId, found.id, text)) return;
    } else if (await open(workspaceId, pair, found.id, text)) return;
  }
}

/** Opens the conversation with the text, which it counts or adds. Returns false where the conversation was deleted. */
async function open(workspaceId: string, pair: Pair, id: string, text: SmsRecord): Promise<boolean> {
  // Years of texts lie between those that retention may be deleting and those that may just be stored. Their number
  // does not change, so they are counted before others have to wait.
  const at = text.createdAt.getTime();
  const recent = firstUuidAt(new Date(at - inFlightMs));
  const safe = firstUuidAt(
    new Date(Math.min(at - inFlightMs, at - config.SMS_RETENTION_DAYS * dayMs + retentionSlackMs)),
  );
  const settled = await findPairTotals(workspaceId, pair, { from: safe, to: recent });
  await waitForSmsTo(workspaceId, pair.number, recent);
  const conversation = await db.findConversationForUpdate(workspaceId, id);
  if (!conversation) return false;
  if (conversation.isOpen) return db.updateConversationAdded(workspaceId, id, text);
  const past = await findPairTotals(workspaceId, pair, { to: safe });
  const latest = await findPairTotals(workspaceId, pair, { from: recent });
  const parts = [past, settled, latest];
  const inbound = sumOf(parts.map((part) => part.inbound));
  const outbound = sumOf(parts.map((part) => part.outbound));
  const all = sumOf([inbound, outbound]);
  await db.updateConversationOpened(workspaceId, {
    ...conversation,
    inboundCount: inbound.texts,
    outboundCount: outbound.texts,
    lastInboundAt: inbound.lastAt,
    lastOutboundAt: outbound.lastAt,
    lastActivityAt: all.lastAt,
    lastSmsId: all.lastId,
  });
  return true;
}

function sumOf(totals: PairTotal[]): PairTotal {
  return totals.reduce((sum, total) => ({
    texts: sum.texts + total.texts,
    lastAt: greater(sum.lastAt, total.lastAt),
    lastId: greater(sum.lastId, total.lastId),
  }));
}

function greater<Value extends Date | string>(one: Value | null, other: Value | null): Value | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}

/**
 * Adds a text that goes out to its conversation, where there is one. Must run last in the transaction that has stored
 * the text: other texts of the pair wait from here to its end.
 */
export async function addSent(workspaceId: string, text: SmsRecord): Promise<void> {
  const id = await db.findConversationIdOf(workspaceId, pairOf(text));
  if (id !== null) await db.updateConversationAdded(workspaceId, id, text);
}

/**
 * Adds many texts that go out, in two steps. The first step, which looks for their conversations, must run once the
 * texts are stored. It returns the second step, which must run after all else in the transaction.
 */
export async function addSentOfMany(workspaceId: string, texts: SmsRecord[]): Promise<() => Promise<void>> {
  const sent = await db.listConversationIdsOf(workspaceId, texts);
  return () => db.updateManyConversationsSent(workspaceId, sent);
}
