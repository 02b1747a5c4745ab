import { fitting } from '../../../db/client/outside-text.ts';
import {
  type ContactRecord,
  listContactIdsOfNumbers,
  listContactsByIds,
} from '../../../db/contacts/contacts.ts';
import type { SmsBatchRecord } from '../../../db/sms/batches/batches.ts';
import type { BatchRow } from '../../../db/sms/batches/rows.ts';
import type { SmsRecord } from '../../../db/sms/messages.ts';
import { listSuppressedNumbers } from '../../../db/suppressions.ts';
import { startOf } from '../../../formats/folded-text.ts';
import type { SmsReason } from '../../../schemas/sms/sms.ts';
import * as contactLists from '../../contact-lists/contact-lists.ts';
import { permanent, transient } from '../../work/reasons.ts';
import { crashes, noRoute, notApproved, suppressed } from '../delivery/reasons.ts';
import { costOf } from '../prices.ts';
import { newSms } from '../record.ts';
import type { ShortenedLink } from '../short-links/short-links.ts';
import { renderAll } from './render.ts';
import { router } from './routes.ts';

/**
 * The result of a row: a queued message, its short links, and the source that the links come from. `reason`: why the
 * message fails at once. Null: the row makes no message.
 */
export type Made = {
  message: SmsRecord;
  reason: SmsReason | null;
  links: ShortenedLink[];
  source: string | null;
} | null;

const noPrice = transient(
  'rejected',
  'no_price',
  'There was no price for the country of the recipient when the message was made',
);
const unroutedReasons = { sender_not_approved: notApproved, no_price: noPrice, no_route: noRoute };
const contentInvalid = (message: string) =>
  permanent('rejected', 'content_invalid', fitting('sms_messages.reason_description', message));
/** The bytes of the column `sender`. */
const longestSender = 20;

/**
 * Makes the messages of these rows, in their order, without a transaction. Where rendering takes long, only the first
 * rows are done. `givesUp`: no worker could render the rows, so they fail unrendered.
 */
export async function makeMessages(
  batch: SmsBatchRecord,
  rows: BatchRow[],
  at: Date,
  { givesUp }: { givesUp: boolean },
): Promise<Made[]> {
  const { workspaceId } = batch;
  const numbers = rows.map(({ number }) => number);
  const [suppressedNumbers, contactIds, contacts] = await Promise.all([
    listSuppressedNumbers(workspaceId, numbers),
    batch.lists ? new Map<string, string>() : listContactIdsOfNumbers(workspaceId, numbers),
    contactsOf(batch, rows),
  ]);
  // A contact that is deleted, or is by now in an excluded list, gets no message.
  const isLeftOut = (row: BatchRow) => batch.lists !== null && !contacts.has(row.contactId!);
  const isRendered = (row: BatchRow) => !givesUp && !isLeftOut(row);
  const rendered = await renderAll(
    workspaceId,
    {
      shared: batch.data,
      renderings: rows.filter(isRendered).map((row) => ({
        content: row.content ?? batch.content!,
        unicode: row.unicode ?? batch.unicode,
        shortenLinks: batch.shortenLinks,
        data: {
          ...row.data,
          ...(batch.lists && { contact: shownToLiquid(contacts.get(row.contactId!)!) }),
        },
      })),
    },
    batch.scheduledAt ?? batch.createdAt,
  );
  const texts = rendered.values();
  const routeOf = router(workspaceId, at);
  const made: Made[] = [];
  for (const row of rows) {
    if (isLeftOut(row)) {
      made.push(null);
      continue;
    }
    const text = isRendered(row) ? texts.next().value : null;
    // The time to render was over before this row.
    if (text === undefined) break;
    const name = row.sender ?? batch.sender;
    const route = await routeOf(name, row);
    const unrouted = route.ok ? null : unroutedReasons[route.code];
    const unfit = text === null ? crashes : text.ok ? null : contentInvalid(text.message);
    const isText = text?.ok === true;
    const parts = isText ? text.parts.length : 0;
    const noCost = { gbp: 0, eur: 0 };
    made.push({
      links: isText ? text.links : [],
      source: row.content ?? batch.content,
      reason: suppressedNumbers.has(row.number) ? suppressed : (unrouted ?? unfit),
      message: newSms(at, {
        workspaceId,
        // A row may name something that is no sender. The message must be stored all the same.
        sender: route.sender ?? startOf((name ?? '').trim(), longestSender),
        recipient: row.number,
        content: isText ? text.text : '',
        country: row.country,
        parts,
        encoding: isText ? text.encoding : 'gsm7',
        cost: isText && route.ok ? costOf(parts, route.price) : noCost,
        lineageId: batch.lineageId,
        clientReference: row.clientReference,
        clientTag: batch.clientTag,
        batchId: batch.id,
        contactId: row.contactId ?? contactIds.get(row.number) ?? null,
        templateName: row.content === null ? batch.templateName : null,
        lane: 'bulk',
        // The messages are admitted after the commit, if there is room.
        parked: true,
        requestId: batch.requestId,
      }),
    });
  }
  return made;
}

/** The contacts of rows that are still to get a message, by id; only rows of lists name contacts. */
async function contactsOf(batch: SmsBatchRecord, rows: BatchRow[]): Promise<Map<string, ContactRecord>> {
  if (!batch.lists) return new Map();
  const ids = rows.map(({ contactId }) => contactId!);
  const { excludeLists } = batch.lists;
  const chosen =
    excludeLists.length === 0
      ? ids
      : await contactLists.chosen(batch.workspaceId, ids, {
          filter: {},
          excluded: await contactLists.findLists(batch.workspaceId, excludeLists),
        });
  const contacts = await listContactsByIds(batch.workspaceId, chosen);
  return new Map(contacts.map((contact) => [contact.id, contact]));
}

function shownToLiquid(contact: ContactRecord) {
  const { firstName, lastName, company, email, number, clientReference, tags } = contact;
  return { firstName, lastName, company, email, number, clientReference, tags };
}
