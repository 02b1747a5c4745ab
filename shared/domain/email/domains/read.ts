import { orNotFound } from '../../../common/errors.ts';
import * as db from '../../../db/email/domains.ts';
import type { EmailDomain } from '../../../schemas/email/domains.ts';
import type { PageQuery } from '../../../schemas/fields.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import { type CursorPage, keysetPageById, mapPage } from '../../requests/keyset-pages.ts';
import { toWire } from './records.ts';

export const findByName = db.findEmailDomainByName;

export async function find(caller: Caller, domainId: string): Promise<EmailDomain> {
  const record = orNotFound(await db.findEmailDomain(caller.workspaceId, domainId));
  return toWire(record);
}

export async function list({ workspaceId }: Caller, page: PageQuery): Promise<CursorPage<EmailDomain>> {
  const binding = { workspaceId, listing: 'email-domains', filter: {} };
  return mapPage(
    keysetPageById(binding, page, (range) => db.listEmailDomains(workspaceId, range)),
    (records) => records.map(toWire),
  );
}

/** Lists all, newest first. There may be more than a workspace can add by itself, as the operator may add some. */
export async function listAll(workspaceId: string): Promise<EmailDomain[]> {
  return (await db.listEmailDomains(workspaceId, { limit: 1_000, before: null })).map(toWire);
}
