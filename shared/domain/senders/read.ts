import { problem } from '../../common/errors.ts';
import * as db from '../../db/senders/senders.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { Sender, SenderFilter } from '../../schemas/senders.ts';
import { decodeCursor, encodeCursor } from '../requests/cursors.ts';
import { toWire } from './record.ts';

export async function find(caller: Caller, id: string): Promise<Sender> {
  const record = await db.findSender(caller.workspaceId, id);
  if (!record) throw problem('not_found');
  return toWire(record);
}

export async function list(
  caller: Caller,
  { limit, cursor, status }: SenderFilter,
): Promise<{ data: Sender[]; nextCursor: string | null }> {
  const binding = { workspaceId: caller.workspaceId, listing: 'senders', filter: { status } };
  const before = cursor ? decodeCursor<{ id: string }>(binding, cursor).id : null;
  const records = await db.listSenders(caller.workspaceId, { limit: limit + 1, before }, status);
  const page = records.slice(0, limit);
  return {
    data: page.map(toWire),
    nextCursor: records.length > limit ? encodeCursor(binding, { id: page.at(-1)!.id }) : null,
  };
}

/** Newest first. More than a workspace can make by itself: the operator may add some. */
export async function listAll(workspaceId: string): Promise<Sender[]> {
  return (await db.listSenders(workspaceId, { limit: 2_000, before: null })).map(toWire);
}
