import { orNotFound } from '../../common/errors.ts';
import * as db from '../../db/senders/senders.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { Sender, SenderFilter } from '../../schemas/senders.ts';
import { type CursorPage, keysetPageById, mapPage } from '../requests/keyset-pages.ts';
import { toWire } from './record.ts';

export async function find(caller: Caller, id: string): Promise<Sender> {
  const record = orNotFound(await db.findSender(caller.workspaceId, id));
  return toWire(record);
}

export async function list(
  { workspaceId }: Caller,
  { status, ...page }: SenderFilter,
): Promise<CursorPage<Sender>> {
  const binding = { workspaceId, listing: 'senders', filter: { status } };
  return mapPage(
    keysetPageById(binding, page, (range) => db.listSenders(workspaceId, range, status)),
    (records) => records.map(toWire),
  );
}

/**
 * Lists all senders, newest first. The limit is above the number that a workspace can make by itself, because the
 * operator may add some.
 */
export async function listAll(workspaceId: string): Promise<Sender[]> {
  return (await db.listSenders(workspaceId, { limit: 2_000, before: null })).map(toWire);
}
