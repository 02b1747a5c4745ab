import { now } from '../../clock.ts';
import { afterCommit } from '../../db/client.ts';
import { type BatchCounts, changeBatchCounts, findBatchCounts } from '../../db/sms-batch-counts.ts';
import { listBatchRows } from '../../db/sms-batch-rows.ts';
import type { SmsBatchRecord } from '../../db/sms-batches.ts';
import type { SmsRecord } from '../../db/sms-messages.ts';
import { insertManySms } from '../../db/sms-of-batches.ts';
import { insertEvents } from '../../db/system/events.ts';
import { changeWaiting } from '../../db/waiting-counts.ts';
import { count } from '../../metrics.ts';
import * as conversations from '../conversations.ts';
import * as events from '../events.ts';
import * as keyUsage from '../key-usage.ts';
import * as shortLinks from '../short-links.ts';
import * as balance from '../sms-balance.ts';
import { lookSoon } from '../sms-delivery/admission.ts';
import { advance as advanceSms, eventOf } from '../sms-record.ts';
import * as workspaces from '../workspaces.ts';
import { findMeans, type Means, type Shortage, shortageOf } from './affordable.ts';
import { copyLists } from './copy-lists.ts';
import { changeHeld, type Hold, type Progress } from './held.ts';
import { type Made, makeMessages } from './messages.ts';
import { pause, paused } from './pause.ts';
import { advance } from './record.ts';

const firstLookMs = 500;
const mostTries = 4;

/** Thrown where somebody else has spent meanwhile what the chunk was to be paid with. */
export class Spent extends Error {}

/** One chunk of rows becomes messages; of so many rows at most. `givesUp`: nobody could make the first one's text. */
export async function expand(
  hold: Hold,
  batch: SmsBatchRecord,
  size: number,
  givesUp: boolean,
): Promise<Progress> {
  if (batch.startedAt === null) return begin(hold);
  const { workspaceId } = batch;
  if ((await workspaces.find(workspaceId))?.sendingBlocked) return pause(hold, 'sending_blocked');
  if (batch.lists && batch.listIndex < batch.lists.listIds.length) return copyLists(hold, batch);
  const rows = await listBatchRows(workspaceId, batch.id, { from: batch.nextPosition, limit: size });
  const next = rows.length < size ? batch.rowCount : rows.at(-1)!.position + 1;
  const made = await makeMessages(batch, rows, now(), { givesUp });
  for (let tries = 1; ; tries += 1) {
    const means = await findMeans(batch, now());
    if (!means) return pause(hold, 'key_revoked');
    const shortage = shortageOf(made, means);
    const unmade = rows[shortage?.rows ?? made.length];
    const upTo = unmade?.position ?? next;
    try {
      return await store(hold, { from: batch.nextPosition, upTo, made, means, shortage });
    } catch (error) {
      if (!(error instanceof Spent) || tries === mostTries) throw error;
    }
  }
}

/** From now on the lists are read as they are. */
function begin(hold: Hold): Promise<Progress> {
  return changeHeld(hold, async (batch) => {
    const at = now();
    const begun = batch.state === 'scheduled' ? advance(batch, 'processing', at) : batch;
    return { batch: { ...begun, startedAt: at, updatedAt: at }, isReleased: false };
  });
}

type Chunk = { from: number; upTo: number; made: Made[]; means: Means; shortage: Shortage | null };

async function store(hold: Hold, chunk: Chunk): Promise<Progress> {
  const { from, upTo, made, means, shortage } = chunk;
  const taken = shortage ? made.slice(0, shortage.rows) : made;
  const isCounted = means.balance !== null;
  const messages = taken.filter((one) => one !== null);
  const stored = messages.map(({ message, reason }): SmsRecord => {
    if (reason) return advanceSms(message, 'failed', { at: message.createdAt, reason });
    return { ...message, charged: isCounted ? (message.cost.gbp ?? 0) : 0 };
  });
  const queued = stored.filter(({ status }) => status === 'queued');
  return changeHeld(hold, async (batch) => {
    if (batch.state !== 'processing' || batch.nextPosition !== from)
      throw new Error('A batch that is in hand was changed by somebody else');
    const { workspaceId, lineageId } = batch;
    const at = now();
    await insertManySms(workspaceId, stored);
    const addToConversations = await conversations.addSentOfMany(workspaceId, stored);
    await storeLinks(batch, messages);
    await insertEvents(
      messages.flatMap(({ message }, index) => {
        const ended = stored[index]!;
        const all = ended.status === 'failed' ? [message, ended] : [message];
        return all.map((one) => ({ workspaceId, event: eventOf(one) }));
      }),
    );
    if (taken.length > 0) {
      await changeBatchCounts(batch.workspaceId, batch.id, at, { waiting: -taken.length });
      await changeWaiting(workspaceId, { messages: -taken.length });
    }
    let after: SmsBatchRecord = {
      ...batch,
      nextPosition: upTo,
      updatedAt: at > batch.updatedAt ? at : batch.updatedAt,
    };
    let isReleased = false;
    if (shortage) {
      const { reason, cost, parts } = shortage;
      after = await paused(
        after,
        { reason, cost, parts },
        withChunk(await findBatchCounts(batch.workspaceId, batch.id), taken, stored),
      );
      isReleased = true;
    } else if (upTo >= batch.rowCount) {
      after = { ...after, expanding: false, lane: 'follow', dueAt: new Date(at.getTime() + firstLookMs) };
      isReleased = true;
    }
    // Last, because other messages of the workspace, and of the key, wait from here to the commit.
    if (queued.length > 0) {
      if (isCounted && !(await balance.takeWithin(workspaceId, queued))) throw new Spent();
      const parts = queued.reduce((sum, message) => sum + message.parts, 0);
      const { limits } = means.room;
      if (!(await keyUsage.take(workspaceId, lineageId, { parts, at: queued[0]!.createdAt, limits })))
        throw new Spent();
    }
    await addToConversations();
    afterCommit(() => {
      if (stored.length > 0) events.wakeRelay();
      if (queued.length > 0) lookSoon('bulk', workspaceId);
      count('batch_messages', {}, stored.length);
    });
    return { batch: after, isReleased };
  });
}

/** Of the messages that go out. Of a source's URLs it is looked up once how they are written. */
function storeLinks({ id, workspaceId }: SmsBatchRecord, messages: NonNullable<Made>[]): Promise<void> {
  const linked = messages.filter(({ reason, links }) => reason === null && links.length > 0);
  const writers = new Map<string, (url: string) => string>();
  const writerOf = (source: string) => {
    const writer = writers.get(source) ?? shortLinks.writtenIn(source);
    writers.set(source, writer);
    return writer;
  };
  return shortLinks.store(
    workspaceId,
    linked.map(({ message, links, source }) => ({
      smsId: message.id,
      createdAt: message.createdAt,
      batchId: id,
      links,
      ...(source !== null && { writtenIn: writerOf(source) }),
    })),
  );
}

/** What the counts are once the chunk is committed. */
function withChunk(before: BatchCounts, taken: Made[], stored: SmsRecord[]): BatchCounts {
  const after = { ...before, waiting: before.waiting - taken.length };
  for (const { status, parts, cost } of stored) {
    if (status === 'failed') after.failed += 1;
    else after.queued += 1;
    after.parts += parts;
    after.costGbp += cost.gbp ?? 0;
    after.costEur += cost.eur ?? 0;
  }
  return after;
}
