import { problem } from '../../../common/errors.ts';
import { afterCommit } from '../../../db/client.ts';
import * as db from '../../../db/email/domains.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import { forget } from './signing.ts';

/** Removes a domain. Its queued emails fail when they are due. */
export async function remove(caller: Caller, domainId: string): Promise<void> {
  if (!(await removeOf(caller.workspaceId, domainId))) throw problem('not_found');
}

export async function removeOf(workspaceId: string, domainId: string): Promise<boolean> {
  const record = await db.findEmailDomain(workspaceId, domainId);
  if (!record || !(await db.deleteEmailDomain(workspaceId, domainId))) return false;
  afterCommit(() => forget(workspaceId, record.name));
  return true;
}
