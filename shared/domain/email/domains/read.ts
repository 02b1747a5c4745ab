import { orNotFound } from '../../../common/errors.ts';
import * as db from '../../../db/email/domains.ts';
import type { EmailDomain } from '../../../schemas/email/domains.ts';
import type { PageQuery } from '../../../schemas/fields.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import { keysetPageById } from '../../requests/keyset-pages.ts';
import { toWire } from './records.ts';

export const findByName = db.findEmailDomainByName;

export async function find(caller: Caller, domainId: string): Promise<EmailDomain> {
  const record = orNotFound(await db.findEmailDomain(caller.workspaceId, domainId));
  return toWire(record);
}

export async function list(
  caller: Caller,
  page: PageQuery,
): Promise<{ data: EmailDomain[]; nextCursor: string | null }> {
  const binding = { workspaceId: caller.workspaceId, listing: 'email-domains', filter: {} };
  const { items, nextCursor } = await keysetPageById(binding, page, (range) =>
    db.listEmailDomains(caller.workspaceId, range),
  );
  return { data: items.map(toWire), nextCursor };
}

/** Lists all, newest first. There may be more than a workspace can add by itself, as the operator may add some. */
export async function listAll(workspaceId: string): Promise<EmailDomain[]> {
  return (await db.listEmailDomains(workspaceId, { limit: 1_000, before: null })).map(toWire);
}
