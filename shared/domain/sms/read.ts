import { orNotFound, problem } from '../../common/errors.ts';
import { Faults, faultsIn, type Refuse, type Usable } from '../../common/faults.ts';
import type { Page } from '../../db/client/listing.ts';
import { withoutErasedContacts } from '../../db/sms/contacts.ts';
import { listSmsOfAny, type SmsRowFilter } from '../../db/sms/listings.ts';
import { findSms } from '../../db/sms/messages.ts';
import { listSmsOfPair } from '../../db/sms/of-conversations.ts';
import { listSpellings, type NamedIn } from '../../db/sms/spellings.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { SmsFilter, SmsMessage } from '../../schemas/sms/sms.ts';
import * as conversations from '../conversations/conversations.ts';
import { normalTag } from '../email/rules.ts';
import * as events from '../events/events.ts';
import { type CursorPage, mapPage, searchedPage } from '../requests/keyset-pages.ts';
import { show } from '../requests/visibility.ts';
import { addressOf, toWire } from './record.ts';

export async function find(caller: Caller, smsId: string): Promise<SmsMessage> {
  const found = orNotFound(await findSms(caller.workspaceId, smsId));
  const [record] = await withoutErasedContacts(caller.workspaceId, [found]);
  return show(caller, toWire(record!));
}

export async function list(caller: Caller, query: SmsFilter): Promise<CursorPage<SmsMessage>> {
  const { workspaceId } = caller;
  const { limit, cursor, ...given } = query;
  const { conversationId, ...filter } = given;
  const faults = new Faults();
  const { recipient, sender } = addressesOf(filter, faults.refuse);
  // A caller that may not see numbers must not find them out by asking.
  if ((recipient !== undefined || sender?.startsWith('+')) && !caller.scopes.has('recipients.read'))
    throw problem('forbidden', { detail: 'A filter by a phone number needs the scope recipients.read' });
  const binding = { workspaceId, listing: 'sms', filter: given };
  const rows = { ...filter, recipient, sender, clientTag: filter.clientTag && normalTag(filter.clientTag) };
  const search = (range: Page) => listRows(workspaceId, conversationId, rows, range);
  return mapPage(searchedPage(binding, { limit, cursor }, search, faults), async (found) => {
    const records = await withoutErasedContacts(workspaceId, found);
    return records.map((record) => show(caller, toWire(record)));
  });
}

/** The faults for which `list` would refuse a request, as far as the parameters can be used. */
export const faultsOfFilter = (filter: Usable<SmsFilter>) =>
  faultsIn((refuse) => addressesOf(filter, refuse));

function addressesOf({ recipient, sender }: Usable<SmsFilter>, refuse: Refuse) {
  return {
    recipient: addressOf('recipient', recipient, refuse),
    sender: addressOf('sender', sender, refuse),
  };
}

async function listRows(
  workspaceId: string,
  conversationId: string | undefined,
  filter: SmsRowFilter,
  page: Page,
) {
  const spelled = await spelledFilters(workspaceId, filter);
  const pair =
    conversationId === undefined ? undefined : await conversations.findPair(workspaceId, conversationId);
  if (pair === null) return { records: [], reached: null };
  if (pair) return listSmsOfPair(workspaceId, pair, spelled, page);
  return listSmsOfAny(
    workspaceId,
    spelled.map((one) => ({ filter: one })),
    page,
  );
}

/** One filter for each spelling of a name that texts have; none where no text has the name. */
async function spelledFilters(workspaceId: string, filter: SmsRowFilter): Promise<SmsRowFilter[]> {
  const [senders, recipients] = [
    await spellingsOf(workspaceId, 'sender', filter.sender),
    await spellingsOf(workspaceId, 'recipient', filter.recipient),
  ];
  return senders.flatMap((sender) => recipients.map((recipient) => ({ ...filter, sender, recipient })));
}

async function spellingsOf(
  workspaceId: string,
  column: NamedIn,
  name: string | undefined,
): Promise<(string | undefined)[]> {
  // The name of a sender is ASCII text that is no number.
  const isName = name !== undefined && /^[^+\P{ASCII}]+$/u.test(name);
  return isName ? listSpellings(workspaceId, column, name.trim()) : [name];
}

export async function listEvents(caller: Caller, smsId: string, version: string) {
  await find(caller, smsId);
  return { data: await events.listOfRecord(caller, smsId, version), nextCursor: null };
}
