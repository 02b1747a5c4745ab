import { now } from '../clock.ts';
import { listWorkspaces } from '../db/system/workspaces.ts';
import * as db from '../db/workspaces.ts';
import { newId } from '../formats/ids.ts';

export type NewWorkspace = { name: string; country?: string; alertEmail?: string | null };

export async function create(options: NewWorkspace): Promise<db.WorkspaceRecord> {
  const time = now();
  const record: db.WorkspaceRecord = {
    id: newId('workspace', time),
    name: options.name,
    country: options.country ?? 'GB',
    alertEmail: options.alertEmail ?? null,
    webhooksEnabled: true,
    sendingBlocked: false,
    createdAt: time,
  };
  await db.insertWorkspace(record.id, record);
  return record;
}

export const find = db.findWorkspace;
export const listAll = listWorkspaces;

type Entry = { workspace: db.WorkspaceRecord | null; readAt: number };
const cacheMs = 2_000;
const cache = new Map<string, Entry>();

/** For the hot paths: up to two seconds old. */
export async function findRecent(workspaceId: string): Promise<db.WorkspaceRecord | null> {
  const known = cache.get(workspaceId);
  if (known && performance.now() - known.readAt < cacheMs) return known.workspace;
  const readAt = performance.now();
  const workspace = await db.findWorkspace(workspaceId);
  if (cache.size >= 10_000) cache.delete(cache.keys().next().value!);
  cache.set(workspaceId, { workspace, readAt });
  return workspace;
}
