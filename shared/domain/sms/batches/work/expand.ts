import { now } from '../../../../common/clock.ts';
import { count } from '../../../../common/metrics.ts';
import { afterCommit, beforeCommit } from '../../../../db/client.ts';
import { insertEvents } from '../../../../db/events/events.system.ts';
import type { SmsBatchRecord } from '../../../../db/sms/batches/batches.ts';
import { type BatchCounts, changeBatchCounts, findBatchCounts } from '../../../../db/sms/batches/counts.ts';
import type { SmsRecord } from '../../../../db/sms/messages.ts';
import { insertManySms } from '../../../../db/sms/of-batches.ts';
import { changeWaiting } from '../../../../db/work/waiting-counts.ts';
import * as keyUsage from '../../../api-keys/usage.ts';
import * as conversations from '../../../conversations/conversations.ts';
import * as events from '../../../events/events.ts';
import * as workspaces from '../../../workspace/workspaces.ts';
import * as balance from '../../balance.ts';
import { checkSoon } from '../../delivery/admission.ts';
import * as shortLinks from '../../short-links/short-links.ts';
import { findMeans, type Means, type Shortage, shortageOf } from '../affordable.ts';
import type { Made } from '../messages.ts';
import { pause, paused } from '../pause.ts';
import { advance } from '../record.ts';
import { type Chunk, type ChunkRequest, type Chunks, newMessages } from './chunks.ts';
import { copyMembers, isCopying, membersWithRoom } from './copy-lists.ts';
import { type BatchLease, type BatchProgress, changeHeld } from './held.ts';

const firstCheckMs = 500;
const mostTries = 4;

/** Thrown where other messages have spent the balance or the key's allowance since it was read for this chunk. */
export class Spent extends Error {}

/**
 * Makes messages of one chunk of rows. While the chunk is stored, the next one is made, if `goesOn` says that this
 * worker will continue.
 */
export async function expand(
  hold: BatchLease,
  batch: SmsBatchRecord,
  chunks: Chunks,
  { goesOn, ...wanted }: ChunkRequest & { goesOn: () => boolean },
): Promise<BatchProgress> {
  if (batch.startedAt === null) return begin(hold);
  const { workspaceId } = batch;
  if ((await workspaces.find(workspaceId))?.sendingBlocked) return pause(hold, 'sending_blocked');
  if (isCopying(batch)) {
    const members = await membersWithRoom(batch);
    if (members) return copyMembers(hold, batch, members);
    // Rows that are copied already are sent first, which makes room for more. Without such rows, the batch pauses.
    if (batch.nextPosition >= batch.rowCount) return pause(hold, 'limit_reached');
  }
  const chunk = await chunks.take(batch, wanted);
  for (let tries = 1; ; tries += 1) {
    const means = await findMeans(batch, now());
    if (!means) return pause(hold, 'key_revoked');
    const shortage = shortageOf(chunk.made, means);
    if (!shortage && chunk.upTo < batch.rowCount && !chunks.isNextBegun() && goesOn())
      chunks.beginNext(batch, chunk.upTo, wanted.size);
    try {
      return await store(hold, batch.nextPosition, chunk, means, shortage);
    } catch (error) {
      if (!(error instanceof Spent) || tries === mostTries) throw error;
    }
  }
}

/** Begins the batch. Its lists are read as they are at this time. */
function begin(hold: BatchLease): Promise<BatchProgress> {
  return changeHeld(hold, async (batch) => {
    const at = now();
    const begun = batch.state === 'scheduled' ? advance(batch, 'processing', at) : batch;
    return { batch: { ...begun, startedAt: at, updatedAt: at }, isReleased: false };
  });
}

async function store(
  hold: BatchLease,
  from: number,
  chunk: Chunk,
  means: Means,
  shortage: Shortage | null,
): Promise<BatchProgress> {
  const isCounted = means.balance !== null;
  const isAsMade = !shortage && isCounted === chunk.isCounted;
  const taken = shortage ? chunk.made.slice(0, shortage.rows) : chunk.made;
  const upTo = chunk.positions[taken.length] ?? chunk.upTo;
  const { workspaceId } = chunk;
  const messages = isAsMade ? chunk.messages : newMessages(workspaceId, taken, isCounted);
  const { stored, insertions } = messages;
  const queued = stored.filter(({ status }) => status === 'queued');
  return changeHeld(hold, async (batch) => {
    if (batch.state !== 'processing' || batch.nextPosition !== from)
      throw new Error('A claimed batch was changed by somebody else');
    const { lineageId } = batch;
    const at = now();
    await insertManySms(workspaceId, stored, insertions.sms);
    await storeLinks(batch, messages.made);
    await insertEvents(messages.events, insertions.events);
    if (taken.length > 0) {
      await changeBatchCounts(batch.workspaceId, batch.id, at, { waiting: -taken.length });
      await changeWaiting(workspaceId, { messages: -taken.length });
    }
    let after: SmsBatchRecord = {
      ...batch,
      nextPosition: upTo,
      // Failed messages cost nothing: after them the batch is still to be paid before younger ones.
      pausedCost: queued.length > 0 ? null : batch.pausedCost,
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
    } else if (upTo >= batch.rowCount && !isCopying(batch)) {
      after = { ...after, expanding: false, lane: 'follow', dueAt: new Date(at.getTime() + firstCheckMs) };
      isReleased = true;
    }
    if (queued.length > 0)
      // Other messages of the workspace, and of the key, wait from here to the commit.
      await beforeCommit(async () => {
        if (isCounted && !(await balance.takeWithin(workspaceId, queued))) throw new Spent();
        const parts = queued.reduce((sum, message) => sum + message.parts, 0);
        const { limits } = means.room;
        if (!(await keyUsage.take(workspaceId, lineageId, { parts, at: queued[0]!.createdAt, limits })))
          throw new Spent();
      });
    await conversations.addSent(workspaceId, stored);
    afterCommit(() => {
      if (stored.length > 0) events.wakeRelay();
      if (queued.length > 0) checkSoon('bulk', workspaceId);
      count('batch_messages', {}, stored.length);
    });
    return { batch: after, isReleased };
  });
}

/** Stores the links of the messages that go out. Each source is searched once for the URLs that are written in it. */
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

/** Returns the counts as they are once the chunk is committed. */
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
