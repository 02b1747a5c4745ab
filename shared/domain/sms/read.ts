import * as db from '../../db/sms-messages.ts';
import { problem } from '../../errors.ts';
import { parsePhoneNumber } from '../../formats/phone-number.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { SmsFilter, SmsMessage } from '../../schemas/sms.ts';
import { decodeCursor, encodeCursor } from '../cursors.ts';
import { normalTag } from '../email/rules.ts';
import * as events from '../events.ts';
import { toWire } from '../sms-record.ts';
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
  const { limit, cursor, ...filter } = query;
  const binding = { workspaceId, listing: 'sms', filter };
  const before = cursor ? decodeCursor<{ id: string }>(binding, cursor).id : null;
  const [recipient, sender] = [addressOf(filter.recipient), addressOf(filter.sender)];
  // Who may not see numbers must not find them out by asking.
  if ((recipient !== undefined || sender?.startsWith('+')) && !caller.scopes.has('recipients.read'))
    throw problem('forbidden', { detail: 'Filtering by number needs the scope recipients.read' });
  const { records, reached } = await db.listSms(
    workspaceId,
    { ...filter, recipient, sender, clientTag: filter.clientTag && normalTag(filter.clientTag) },
    { limit, before },
  );
  return {
    data: records.map((record) => show(caller, toWire(record))),
    nextCursor: reached === null ? null : encodeCursor(binding, { id: reached }),
  };
}

/** As it is stored: a number in E.164, or a name. */
function addressOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const parsed = parsePhoneNumber(text);
  return parsed.ok ? parsed.number : text;
}

export async function listEvents(caller: Caller, smsId: string, version: string) {
  await find(caller, smsId);
  return { data: await events.listOfRecord(caller, smsId, version), nextCursor: null };
}
