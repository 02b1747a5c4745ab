import { orNotFound } from '../../common/errors.ts';
import * as db from '../../db/senders/senders.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { Sender, SenderFilter } from '../../schemas/senders.ts';
import { keysetPageById } from '../requests/keyset-pages.ts';
import { toWire } from './record.ts';

export async function find(caller: Caller, id: string): Promise<Sender> {
  const record = orNotFound(await db.findSender(caller.workspaceId, id));
  return toWire(record);
}

export async function list(
  caller: Caller,
  { status, ...page }: SenderFilter,
): Promise<{ data: Sender[]; nextCursor: string | null }> {
  const binding = { workspaceId: caller.workspaceId, listing: 'senders', filter: { status } };
  const { items, nextCursor } = await keysetPageById(binding, page, (range) =>
    db.listSenders(caller.workspaceId, range, status),
  );
  return { data: items.map(toWire), nextCursor };
}

/**
 * Lists all senders, newest first. The limit is above the number that a workspace can make by itself, because the
 * operator may add some.
 */
export async function listAll(workspaceId: string): Promise<Sender[]> {
  return (await db.listSenders(workspaceId, { limit: 2_000, before: null })).map(toWire);
}
