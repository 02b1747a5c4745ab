import { LRUCache } from 'lru-cache';
import { type FieldErrors, invalidFields } from '../../../common/errors.ts';
import { timeSlices } from '../../../common/time-slices.ts';
import type { SmsBatchRecord } from '../../../db/sms/batches/batches.ts';
import type { BatchRow } from '../../../db/sms/batches/rows.ts';
import type { Unicode } from '../../../formats/sms/gsm-7.ts';
import { parsePhoneNumber } from '../../../formats/sms/phone-number.ts';
import { senderKeysOf } from '../../../formats/sms/sender-name.ts';
import { isLiquid } from '../../../formats/templates/liquid-tokens.ts';
import type { BatchMessage, NewSmsBatch } from '../../../schemas/sms/batches.ts';
import { inParts } from '../content.ts';
import { router, type SenderRoute } from './routes.ts';

/** Checks the messages of a new batch, and makes the rows of the valid ones. */

/** `index`: the place of the message in the request, counting from 0. */
export type RowError = { index: number; error: string };
export type RowFault = { field: string; message: string };

const mostFaultsShown = 100;

/** Returns the valid messages as rows in their order, and the errors of the others; throws 400 if none is valid. */
export async function checkRows(
  workspaceId: string,
  request: Pick<NewSmsBatch, 'messages' | 'sender' | 'unicode' | 'shortenLinks' | 'allowDuplicates'>,
  content: string | null,
  at: Date,
): Promise<{ rows: BatchRow[]; storedBytes: number; senders: string[]; errors: RowError[] }> {
  const { check, senders } = rowChecker(workspaceId, request, content, { at, seen: new Set() });
  const rows: BatchRow[] = [];
  let storedBytes = 0;
  const errors: RowError[] = [];
  const faults: FieldErrors = {};
  const messages = request.messages!;
  const slices = timeSlices();
  for (const [index, message] of messages.entries()) {
    if (slices.isOver()) await slices.next();
    const checked = await check(message, rows.length);
    if ('row' in checked) {
      rows.push(checked.row);
      storedBytes += sizeOfRow(checked.row);
      continue;
    }
    const { field, message: text } = checked.fault;
    errors.push({ index, error: `${field} ${text}` });
    if (errors.length <= mostFaultsShown) faults[`messages[${index}].${field}`] = [text];
  }
  if (rows.length === 0) throw invalidFields(faults);
  return { rows, storedBytes, senders: [...senders], errors };
}

/** Returns the bytes that a row stores for itself; a row of a list stores none. */
export function sizeOfRow({ content, data, sender, clientReference }: BatchRow): number {
  return sizeOf(content, data && JSON.stringify(data), sender, clientReference);
}

/** Returns the bytes that a batch stores for all of its rows. */
export function sizeOfShared({ content, data }: Pick<SmsBatchRecord, 'content' | 'data'>): number {
  return sizeOf(content, JSON.stringify(data));
}

function sizeOf(...texts: (string | null)[]): number {
  let bytes = 0;
  for (const text of texts) if (text) bytes += Buffer.byteLength(text);
  return bytes;
}

/** Numbers in E.164 that have come before. */
type SeenNumbers = { has: (number: string) => boolean; add: (number: string) => unknown };

/**
 * Makes a function that returns the row of a message, or why the message cannot be sent. `senders`: keys of the senders
 * that the rows so far name, or that the request names for them.
 */
export function rowChecker(
  workspaceId: string,
  request: Pick<NewSmsBatch, 'sender' | 'unicode' | 'shortenLinks' | 'allowDuplicates'>,
  content: string | null,
  { at, seen }: { at: Date; seen: SeenNumbers },
) {
  const routeOf = router(workspaceId, at);
  const fits = contentCheck(request.shortenLinks === true);
  const senders = new Set<string>();
  return { check, senders };

  async function check(
    message: BatchMessage,
    position: number,
  ): Promise<{ row: BatchRow } | { fault: RowFault }> {
    const parsed = parsePhoneNumber(message.recipient);
    if (!parsed.ok) return { fault: { field: 'recipient', message: parsed.message } };
    const { number, country } = parsed;
    if (!request.allowDuplicates && seen.has(number))
      return {
        fault: { field: 'recipient', message: 'is also the recipient of an earlier message of the batch' },
      };
    const sender = message.sender ?? request.sender ?? null;
    const route: SenderRoute = await routeOf(sender, parsed);
    if (!route.ok) return { fault: { field: route.field, message: route.message } };
    const unfit = fits(message.content ?? content!, message.unicode ?? request.unicode ?? 'allow');
    if (unfit !== null) return { fault: { field: 'content', message: unfit } };
    seen.add(number);
    if (sender !== null) for (const key of senderKeysOf(sender)) senders.add(key);
    return {
      row: {
        position,
        number,
        country,
        contactId: null,
        sender: message.sender ?? null,
        content: message.content ?? null,
        unicode: message.unicode ?? null,
        clientReference: message.clientReference ?? null,
        data: message.data ?? null,
      },
    };
  }
}

const mostContents = 100;

/**
 * Makes the check of contents. Most messages have the same content, which is checked once. Content with Liquid is
 * judged when it is rendered.
 */
function contentCheck(shortenLinks: boolean): (content: string, unicode: Unicode) => string | null {
  // Limited, because each row may have a content of its own. An empty message: the content fits.
  const known = new LRUCache<string, string>({ max: mostContents });
  return (content, unicode) => {
    if (isLiquid(content)) return null;
    const key = `${unicode} ${content}`;
    let message = known.get(key);
    if (message === undefined) {
      const fitted = inParts(content, { unicode, shortenLinks });
      message = fitted.ok ? '' : fitted.message;
      known.set(key, message);
    }
    return message || null;
  };
}
