import { invalid, problem } from '../../common/errors.ts';
import * as db from '../../db/email/emails.ts';
import { compareKey, parseMailbox } from '../../formats/email/address.ts';
import type { Email, EmailFilter } from '../../schemas/email/email.ts';
import type { Caller } from '../../schemas/scopes.ts';
import * as events from '../events/events.ts';
import { decodeCursor, encodeCursor } from '../requests/cursors.ts';
import { show } from '../requests/visibility.ts';
import { toWire } from './record.ts';
import { normalTag } from './rules.ts';

export async function find(caller: Caller, emailId: string): Promise<Email> {
  const record = await db.findEmail(caller.workspaceId, emailId);
  if (!record) throw problem('not_found');
  return show(caller, toWire(record));
}

export async function list(
  caller: Caller,
  query: EmailFilter,
): Promise<{ data: Email[]; nextCursor: string | null }> {
  const { limit, cursor, recipient, ...filter } = query;
  const binding = { workspaceId: caller.workspaceId, listing: 'emails', filter: { recipient, ...filter } };
  const before = cursor ? decodeCursor<{ id: string }>(binding, cursor).id : null;
  if (recipient !== undefined && !caller.scopes.has('recipients.read'))
    throw problem('forbidden', { detail: 'Filtering by recipient needs the scope recipients.read' });
  const recipientKey = recipient === undefined ? undefined : filterKey(recipient);
  const { records, reached } = await db.listEmails(
    caller.workspaceId,
    { ...filter, clientTag: filter.clientTag && normalTag(filter.clientTag), recipientKey },
    { limit, before },
  );
  return {
    data: records.map((record) => show(caller, toWire(record))),
    nextCursor: reached === null ? null : encodeCursor(binding, { id: reached }),
  };
}

function filterKey(recipient: string): string {
  const parsed = parseMailbox(recipient, { allowDisplayName: true });
  if (!parsed.ok) throw invalid('recipient', parsed.message);
  return compareKey(parsed.mailbox.address);
}

export async function listEvents(caller: Caller, emailId: string, version: string) {
  await find(caller, emailId);
  return { data: await events.listOfRecord(caller, emailId, version), nextCursor: null };
}
