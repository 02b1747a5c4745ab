import { orNotFound, problem } from '../../common/errors.ts';
import { Faults, faultsIn, type Refuse, type Usable } from '../../common/faults.ts';
import type { Page } from '../../db/client/listing.ts';
import * as db from '../../db/email/emails.ts';
import { compareKey } from '../../formats/email/address.ts';
import type { Email, EmailFilter } from '../../schemas/email/email.ts';
import type { Caller } from '../../schemas/scopes.ts';
import * as events from '../events/events.ts';
import { type CursorPage, mapPage, searchedPage } from '../requests/keyset-pages.ts';
import { show } from '../requests/visibility.ts';
import { toWire } from './record.ts';
import { normalTag, parseField } from './rules.ts';

export async function find(caller: Caller, emailId: string): Promise<Email> {
  const record = orNotFound(await db.findEmail(caller.workspaceId, emailId));
  return show(caller, toWire(record));
}

export async function list(caller: Caller, query: EmailFilter): Promise<CursorPage<Email>> {
  const { limit, cursor, recipient, ...filter } = query;
  if (recipient !== undefined && !caller.scopes.has('recipients.read'))
    throw problem('forbidden', { detail: 'The filter recipient needs the scope recipients.read' });
  const faults = new Faults();
  const recipientKey = filterKey(recipient, faults.refuse);
  const binding = { workspaceId: caller.workspaceId, listing: 'emails', filter: { recipient, ...filter } };
  const rows = { ...filter, clientTag: filter.clientTag && normalTag(filter.clientTag), recipientKey };
  const search = (range: Page) => db.listEmails(caller.workspaceId, rows, range);
  return mapPage(searchedPage(binding, { limit, cursor }, search, faults), (records) =>
    records.map((record) => show(caller, toWire(record))),
  );
}

/** The faults for which `list` would refuse a request, as far as the parameters can be used. */
export const faultsOfFilter = ({ recipient }: Usable<EmailFilter>) =>
  faultsIn((refuse) => filterKey(recipient, refuse));

function filterKey(recipient: string | undefined, refuse: Refuse): string | undefined {
  const mailbox = parseField('recipient', recipient, refuse);
  return mailbox ? compareKey(mailbox.address) : undefined;
}

export async function listEvents(caller: Caller, emailId: string, version: string) {
  await find(caller, emailId);
  return { data: await events.listOfRecord(caller, emailId, version), nextCursor: null };
}
