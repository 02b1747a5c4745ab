import { now } from '../../common/clock.ts';
import { config } from '../../config/config.ts';
import { beforeCommit, outsideTransaction } from '../../db/client.ts';
import * as db from '../../db/conversations/conversations.ts';
import type { SmsRecord } from '../../db/sms/messages.ts';
import { findPairTotals, type PairTotal, waitForSmsTo } from '../../db/sms/of-conversations.ts';
import { firstUuidAt, newId } from '../../formats/ids.ts';
import { type Pair, pairOf } from '../../formats/text-pair.ts';

/**
 * A conversation begins with the first inbound text, and has all texts of its pair from then on. An outbound text is
 * stored first and looks for its conversation then. The first inbound text counts the texts that are stored:
 *
 * 1. `expect` commits a conversation that is not open. An outbound text that looks from here on finds the conversation,
 *    and adds itself.
 * 2. `addInbound` waits for the texts that are being stored. A text that looked before step 1 is stored by then.
 * 3. The second step of `addInbound` locks the conversation, counts the texts of the pair, and opens the conversation.
 *    A text that has not added itself yet waits for the lock. It is not committed, so it is not among the counted texts.
 *
 * There is no deadlock: while `addInbound` waits for other texts, it has locked nothing that they need. Every
 * transaction locks a conversation by its id, and last, after messages, balance and key usage. So the answer to an
 * inbound text is paid and stored between the two steps of `addInbound`.
 *
 * If retention deletes the conversation meanwhile, `addInbound` begins again. An outbound text need not: it is stored,
 * so the `addInbound` that makes the conversation anew waits for the text and counts it.
 */

// No transaction takes longer, so older texts are committed.
const inFlightMs = 10 * 60_000;
const dayMs = 86_400_000;
/**
 * Retention deletes no text that is younger than SMS_RETENTION_DAYS. The time in an id differs from the time of its
 * text by less than this.
 */
const retentionSlackMs = 3_600_000;

/**
 * Makes the conversation of the pair where there is none. Must run before the transaction that `addInbound` belongs to.
 */
export async function expect(workspaceId: string, pair: Pair): Promise<void> {
  if (await db.findConversationOf(workspaceId, pair)) return;
  await db.insertConversation(workspaceId, newId('conversation', now()), pair, now());
}

/**
 * Adds a text that came in to its conversation, in two steps. The first step must run once the text is stored, before
 * the transaction locks a balance. It returns the second step, which must run last in the transaction, and which adds
 * the stored answer to the text as well.
 */
export async function addInbound(
  workspaceId: string,
  text: SmsRecord,
): Promise<(answer: SmsRecord | null) => Promise<void>> {
  let found = await look(workspaceId, text);
  return async (answer) => {
    const texts = answer ? [text, answer] : [text];
    while (!(await add(workspaceId, found, texts))) found = await look(workspaceId, text);
  };
}

/**
 * `settled`: set while the conversation is not open. It has the totals of the texts between `from` and `to`. The texts
 * outside of that range are still to be counted.
 */
type FoundConversation = { id: string; settled: { totals: PairTotals; from: Buffer; to: Buffer } | null };
type PairTotals = Awaited<ReturnType<typeof findPairTotals>>;

/** Finds the conversation of the text. If it is not open, waits for the texts that may not have found it. */
async function look(workspaceId: string, text: SmsRecord): Promise<FoundConversation> {
  const pair = pairOf(text);
  for (;;) {
    const found = await db.findConversationOf(workspaceId, pair);
    if (!found) {
      await outsideTransaction(() => expect(workspaceId, pair));
      continue;
    }
    if (found.isOpen) return { id: found.id, settled: null };
    // Most texts are older than any transaction in progress, and too young for retention to delete them. Their number
    // does not change, so they are counted before the lock makes others wait.
    const at = text.createdAt.getTime();
    const to = firstUuidAt(new Date(at - inFlightMs));
    const from = firstUuidAt(
      new Date(Math.min(at - inFlightMs, at - config.SMS_RETENTION_DAYS * dayMs + retentionSlackMs)),
    );
    const totals = await findPairTotals(workspaceId, pair, { from, to });
    await waitForSmsTo(workspaceId, pair.number, to);
    return { id: found.id, settled: { totals, from, to } };
  }
}

/** Adds stored texts to the conversation, or opens it with them. Returns false where it was deleted meanwhile. */
async function add(
  workspaceId: string,
  { id, settled }: FoundConversation,
  texts: SmsRecord[],
): Promise<boolean> {
  if (settled) {
    const conversation = await db.findConversationForUpdate(workspaceId, id);
    if (!conversation) return false;
    if (!conversation.isOpen) {
      await open(workspaceId, conversation, settled);
      return true;
    }
  }
  for (const text of texts) if (!(await db.updateConversationAdded(workspaceId, id, text))) return false;
  return true;
}

/** Opens a locked conversation with all texts of its pair that are stored. */
async function open(
  workspaceId: string,
  conversation: db.ConversationRecord,
  { totals, from, to }: NonNullable<FoundConversation['settled']>,
): Promise<void> {
  const past = await findPairTotals(workspaceId, conversation, { to: from });
  const latest = await findPairTotals(workspaceId, conversation, { from: to });
  const parts = [past, totals, latest];
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
 * Adds texts that go out to their conversations, where there are some. Must run once the texts are stored. The
 * conversations change at the end of the transaction, because other texts of the pair wait from there to the commit.
 */
export async function addSent(workspaceId: string, texts: SmsRecord[]): Promise<void> {
  const sent = await db.listConversationIdsOf(workspaceId, texts);
  if (sent.size > 0) await beforeCommit(() => db.updateManyConversationsSent(workspaceId, sent));
}
