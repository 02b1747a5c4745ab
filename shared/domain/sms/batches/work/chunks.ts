import { now } from '../../../../common/clock.ts';
import { eventsInsertion, type OwnedEvent } from '../../../../db/events/events.system.ts';
import { findSmsBalance } from '../../../../db/sms/balances.ts';
import type { SmsBatchRecord } from '../../../../db/sms/batches/batches.ts';
import { listBatchRows } from '../../../../db/sms/batches/rows.ts';
import type { SmsRecord } from '../../../../db/sms/messages.ts';
import { smsInsertion } from '../../../../db/sms/of-batches.ts';
import { advance as advanceSms, eventOf } from '../../record.ts';
import { type Made, makeMessages } from '../messages.ts';
import { readUpToDate } from './read-up-to-date.ts';

/** Rows that become messages together. `messages`: all of these messages as they are stored if all can be paid. */
export type Chunk = {
  workspaceId: string;
  made: Made[];
  /** Positions of their rows. The data of the rows is not kept: the data of one chunk may be megabytes. */
  positions: number[];
  /** The position behind the last of them. */
  upTo: number;
  /** Whether `messages` were made for a workspace that has a balance. */
  isCounted: boolean;
  messages: NewMessages;
};

/** Messages and their events, with the statements that store them. */
type NewMessages = {
  /** As they are queued, with their links. */
  made: NonNullable<Made>[];
  /** The same messages as they are stored: a message that has a reason is failed. */
  stored: SmsRecord[];
  events: OwnedEvent[];
  insertions: { sms: string; events: string };
};

/** `size`: the most rows of the chunk. `givesUp`: too many workers died at the first row, so it is not rendered. */
export type ChunkRequest = { size: number; givesUp: boolean };

/**
 * Makes the chunks of one batch for the worker that holds its lease. While the database stores a chunk, this process
 * makes the next one. The next chunk is used only if the batch has then reached its position. Otherwise the batch has
 * changed, and the chunk is thrown away.
 */
export function openChunks() {
  let next: { from: number; size: number; chunk: Promise<Chunk> } | null = null;
  return {
    isNextBegun: () => next !== null,

    beginNext(batch: SmsBatchRecord, from: number, size: number): void {
      const chunk = make(batch, from, { size, givesUp: false });
      // The error goes to the caller of take().
      chunk.catch(() => undefined);
      next = { from, size, chunk };
    },

    async take(batch: SmsBatchRecord, wanted: ChunkRequest): Promise<Chunk> {
      const begun = next;
      next = null;
      const from = batch.nextPosition;
      if (begun?.from === from && begun.size === wanted.size && !wanted.givesUp) return begun.chunk;
      await begun?.chunk.catch(() => undefined);
      return make(batch, from, wanted);
    },

    /** Waits for a chunk that was begun and not taken. */
    async close(): Promise<void> {
      await next?.chunk.catch(() => undefined);
      next = null;
    },
  };
}
export type Chunks = ReturnType<typeof openChunks>;

/** Makes the chunk that begins at this position, as far as that needs no transaction. */
async function make(batch: SmsBatchRecord, from: number, { size, givesUp }: ChunkRequest): Promise<Chunk> {
  const { workspaceId, id, rowCount } = batch;
  // A chunk that is made ahead may be read after members of another list were copied. Their rows are not for this chunk,
  // which ends where the rows did when it was begun.
  const stretch = { from, to: rowCount, limit: size };
  const rows = await readUpToDate(batch, () => listBatchRows(workspaceId, id, stretch));
  const end = rows.length < size ? rowCount : rows.at(-1)!.position + 1;
  const [made, balance] = await Promise.all([
    makeMessages(batch, rows, now(), { givesUp }),
    findSmsBalance(workspaceId),
  ]);
  const upTo = rows[made.length]?.position ?? end;
  const isCounted = balance !== null;
  const positions = rows.map(({ position }) => position);
  return {
    workspaceId,
    positions,
    made,
    upTo,
    isCounted,
    messages: newMessages(workspaceId, made, isCounted),
  };
}

/** `isCounted`: the workspace has a balance, which the messages are charged to. */
export function newMessages(workspaceId: string, made: Made[], isCounted: boolean): NewMessages {
  const messages = made.filter((one) => one !== null);
  const stored = messages.map(({ message, reason }): SmsRecord => {
    if (reason) return advanceSms(message, 'failed', { at: message.createdAt, reason });
    return { ...message, charged: isCounted ? (message.cost.gbp ?? 0) : 0 };
  });
  const events = messages.flatMap(({ message }, index) => {
    const ended = stored[index]!;
    const all = ended.status === 'failed' ? [message, ended] : [message];
    return all.map((one) => ({ workspaceId, event: eventOf(one) }));
  });
  const insertions = { sms: smsInsertion(workspaceId, stored), events: eventsInsertion(events) };
  return { made: messages, stored, events, insertions };
}
