import type { Page } from '../../db/listing.ts';
import * as db from '../../db/sms-messages.ts';
import { listSmsOfPair } from '../../db/sms-of-conversations.ts';
import { problem } from '../../errors.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { SmsFilter, SmsMessage } from '../../schemas/sms.ts';
import * as conversations from '../conversations.ts';
import { decodeCursor, encodeCursor } from '../cursors.ts';
import { normalTag } from '../email/rules.ts';
import * as events from '../events.ts';
import { addressOf, toWire } from '../sms-record.ts';
import { show } from '../visibility.ts';

export async function find(caller: Caller, smsId: string): Promise<SmsMessage> {
  const record = await db.findSms(caller.workspaceId, smsId);
  if (!record) throw problem('not_found');
  return show(caller, toWire(record));
}

export async function list(
  caller: Caller,
  query: SmsFilter,
): Promise<{ data: SmsMessage[]; nextCursor: string | null }> {
  const { workspaceId } = caller;
  const { limit, cursor, ...given } = query;
  const binding = { workspaceId, listing: 'sms', filter: given };
  const before = cursor ? decodeCursor<{ id: string }>(binding, cursor).id : null;
  const { conversationId, ...filter } = given;
  const [recipient, sender] = [addressOf('recipient', filter.recipient), addressOf('sender', filter.sender)];
  // Who may not see numbers must not find them out by asking.
  if ((recipient !== undefined || sender?.startsWith('+')) && !caller.scopes.has('recipients.read'))
    throw problem('forbidden', { detail: 'Filtering by number needs the scope recipients.read' });
  const rows = { ...filter, recipient, sender, clientTag: filter.clientTag && normalTag(filter.clientTag) };
  const { records, reached } = await listRows(workspaceId, conversationId, rows, { limit, before });
  return {
    data: records.map((record) => show(caller, toWire(record))),
    nextCursor: reached === null ? null : encodeCursor(binding, { id: reached }),
  };
}

async function listRows(
  workspaceId: string,
  conversationId: string | undefined,
  filter: db.SmsRowFilter,
  page: Page,
) {
  if (conversationId === undefined) return db.listSms(workspaceId, filter, page);
  const pair = await conversations.findPair(workspaceId, conversationId);
  return pair ? listSmsOfPair(workspaceId, pair, filter, page) : { records: [], reached: null };
}

export async function listEvents(caller: Caller, smsId: string, version: string) {
  await find(caller, smsId);
  return { data: await events.listOfRecord(caller, smsId, version), nextCursor: null };
}
