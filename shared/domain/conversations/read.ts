import { Faults, faultsIn, type Refuse, type Usable } from '../../common/faults.ts';
import {
  type ContactRecord,
  listContactIdsOfNumbers,
  listContactsByIds,
} from '../../db/contacts/contacts.ts';
import * as db from '../../db/conversations/conversations.ts';
import { withoutErasedContacts } from '../../db/sms/contacts.ts';
import { listSmsByIds } from '../../db/sms/of-conversations.ts';
import { listSuppressedNumbers } from '../../db/suppressions.ts';
import type { Pair } from '../../formats/text-pair.ts';
import { Conversation, type ConversationQuery } from '../../schemas/conversations.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { readCursor } from '../requests/cursors.ts';
import { type CursorPage, keysetPage, mapPage } from '../requests/keyset-pages.ts';
import { show } from '../requests/visibility.ts';
import { wireOf } from '../requests/wire.ts';
import { addressOf, toWire as smsToWire } from '../sms/record.ts';

/**
 * Lists conversations, latest activity first. A conversation that gets a text while the pages are read moves to the
 * front, so the later pages do not contain it.
 */
export async function list(
  caller: Caller,
  { limit, cursor, ...filter }: ConversationQuery,
): Promise<CursorPage<Conversation>> {
  const { workspaceId } = caller;
  const binding = { workspaceId, listing: 'conversations', filter };
  const faults = new Faults();
  const addresses = addressesOf(filter, faults.refuse);
  // Without a fault so far, `keysetPage` reads the cursor itself.
  if (faults.areAny) readCursor(binding, cursor, faults.refuse);
  faults.throwAny();
  return mapPage(
    keysetPage(
      binding,
      { limit, cursor },
      (most, after: db.ConversationPlace | null) =>
        db.listConversations(workspaceId, { ...filter, ...addresses }, { limit: most, after }),
      ({ lastActivityAt, id }) => ({ at: lastActivityAt!.toISOString(), id }),
    ),
    (records) => toWireAll(caller, records),
  );
}

/** The faults for which `list` would refuse a request, as far as the parameters can be used. */
export const faultsOfFilter = (filter: Usable<ConversationQuery>) =>
  faultsIn((refuse) => addressesOf(filter, refuse));

function addressesOf({ number, sender }: Usable<ConversationQuery>, refuse: Refuse) {
  return { number: addressOf('number', number, refuse), sender: addressOf('sender', sender, refuse) };
}

/** Returns the number and the sender of a conversation; null where the workspace has no such conversation. */
export async function findPair(workspaceId: string, id: string): Promise<Pair | null> {
  const found = await db.findConversation(workspaceId, id);
  return found?.isOpen ? found : null;
}

async function toWireAll(caller: Caller, records: db.ConversationRecord[]): Promise<Conversation[]> {
  const { workspaceId } = caller;
  const numbers = [...new Set(records.map(({ number }) => number))];
  const [texts, suppressed, contacts] = await Promise.all([
    listSmsByIds(
      workspaceId,
      records.map(({ lastSmsId }) => lastSmsId!),
    ),
    listSuppressedNumbers(workspaceId, numbers),
    contactsOf(workspaceId, numbers),
  ]);
  const shown = await withoutErasedContacts(workspaceId, texts);
  const byId = new Map(shown.map((text) => [text.id, text]));
  return records.flatMap((record): Conversation[] => {
    const last = byId.get(record.lastSmsId!);
    // Retention has deleted the text between two statements. The conversation is deleted too, or shows another text
    // now.
    if (!last) return [];
    return [
      wireOf(Conversation, {
        ...record,
        contact: contacts.get(record.number) ?? null,
        lastMessage: show(caller, smsToWire(last)),
        lastInboundAt: record.lastInboundAt!,
        suppressed: suppressed.has(record.number),
      }),
    ];
  });
}

async function contactsOf(
  workspaceId: string,
  numbers: string[],
): Promise<Map<string, NonNullable<Conversation['contact']>>> {
  const ids = await listContactIdsOfNumbers(workspaceId, numbers);
  const records = await listContactsByIds(workspaceId, [...ids.values()]);
  return new Map(
    records.map(({ id, number, firstName, lastName, company }: ContactRecord) => [
      number,
      { id, firstName, lastName, company },
    ]),
  );
}
