import { now } from '../../../common/clock.ts';
import { isolated } from '../../../common/isolated.ts';
import { atMostEvery, logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import { runWithRequest } from '../../../common/request-context.ts';
import { transaction } from '../../../db/client.ts';
import { findSenderOfVirtualNumber } from '../../../db/senders/senders.system.ts';
import * as db from '../../../db/sms/inbound.system.ts';
import { newUuid } from '../../../formats/ids.ts';
import { joinParts } from '../../../formats/sms/gsm-7.ts';
import { type PhoneNumber, parsePhoneNumber } from '../../../formats/sms/phone-number.ts';
import { longestInbound } from '../../../schemas/sms/gateway-posts.ts';
import {
  type Acknowledgement,
  closeGateways,
  type InboundPart,
  type InboundPlace,
  isAllSimulated,
  openGateways,
} from '../../../transports/sms.ts';
import * as inbound from './inbound.ts';
import * as receipts from './receipts.ts';
import * as reports from './reports.ts';
import * as returning from './returning.ts';
import { unansweredText, writesDone } from './unanswered.ts';

/** Messages that gateways send on their own: receipts, and texts to numbers of workspaces. */

/** Parts that wait longer for the others are joined without them. */
const partsWaitMs = 24 * 3_600_000;

/** Connects this process to the gateways. It does not wait for gateways that are down. */
export function start(): void {
  if (isAllSimulated()) {
    logger.info('SMS_GATEWAYS is not set: the simulator takes all texts, and no text leaves the platform');
    return;
  }
  void openGateways({
    receipt: reportingFailure(async (receipt) => void (await receipts.apply(receipt))),
    text: reportingFailure(receive),
  });
  reports.begin();
  returning.begin();
}

export async function stop(): Promise<void> {
  await returning.end();
  await reports.end();
  await closeGateways();
  await writesDone();
}

/** Wraps `keep`. If a message cannot be stored, the gateway is to send it again, and the log tells the operator why. */
export function reportingFailure<Item extends { gateway: string }, More extends unknown[], Result>(
  keep: (item: Item, ...more: More) => Promise<Result>,
) {
  return async (item: Item, ...more: More): Promise<Result> => {
    try {
      return await keep(item, ...more);
    } catch (error) {
      count('sms_gateway_put_off', { gateway: item.gateway });
      logger.warn(
        { err: error, gateway: item.gateway },
        'a receipt or an incoming text could not be stored; the gateway must send it again',
      );
      throw error;
    }
  };
}

/**
 * Resolves when the text is on disk; then its gateway may be told so, and the returned object hears what becomes of that.
 */
export async function receive(part: InboundPart, line: object): Promise<Acknowledgement> {
  const unanswered = unansweredText(part, line);
  const requestId = `inbound-${newUuid(now()).toString('hex')}`;
  try {
    await runWithRequest({ requestId }, () => keep(part, unanswered.isNew));
  } catch (error) {
    unanswered.leave();
    throw error;
  }
  return unanswered.acknowledgement;
}

/** Resolves when the text is on disk. `isNew` runs in its transaction: false where the text has come before. */
export async function keep(part: InboundPart, isNew: (at: Date) => Promise<boolean>): Promise<void> {
  const { number: to, country } = numberOf(part.recipient) ?? { number: null, country: null };
  // A national number belongs to the network that brought the text, so to the country of the recipient.
  const from = part.isSenderNational ? nationalNumberOf(part.sender, country) : numberOf(part.sender)?.number;
  const owner = to && (await findSenderOfVirtualNumber(to));
  if (!owner || !from) return unmatched(part.gateway, owner ? 'sender' : 'recipient');
  await inbound.expect(owner.workspaceId, { from, to });
  const text = part.place && partedText(part, from, to, part.place);
  await transaction(async () => {
    const at = now();
    if (!(await isNew(at))) return count('sms_inbound_repeated', { gateway: part.gateway });
    const content = cut(part.content, part.gateway);
    if (!text) return void (await inbound.receive(owner.workspaceId, { from, to, content }));
    await db.insertInboundPart(text, { part: part.place!.part, content, at });
  });
  // The parts of a text come in one burst. If each part looked for the others in the transaction that stored it, all
  // parts would wait for one another's rows. A part that comes again looks too: the process may have died between its
  // two transactions.
  if (text)
    await transaction(async () => {
      const parts = await db.listInboundPartsForUpdate(text);
      if (parts.length === text.total) await join(owner.workspaceId, text, parts);
    });
}

function partedText({ gateway }: InboundPart, sender: string, recipient: string, place: InboundPlace) {
  return { gateway, sender, recipient, reference: place.reference, total: place.total };
}

async function join(workspaceId: string, text: db.PartedText, parts: string[]): Promise<void> {
  await db.deleteInboundParts(text);
  const content = cut(joinParts(parts), text.gateway);
  await inbound.receive(workspaceId, { from: text.sender, to: text.recipient, content });
}

/** Cuts a text that is too long to be stored. If it were refused, it would come again for days. */
function cut(content: string, gateway: string): string {
  if (content.length <= longestInbound) return content;
  count('sms_inbound_cut', { gateway });
  const isAmidCharacter = content.codePointAt(longestInbound - 1)! > 0xffff;
  return content.slice(0, isAmidCharacter ? longestInbound - 1 : longestInbound);
}

/**
 * Receives texts whose other parts have not come in a day, with the parts that are there. Returns how many such texts
 * there were.
 */
export async function joinLeft(limit: number): Promise<number> {
  const left = await db.listInboundTextsBefore(new Date(now().getTime() - partsWaitMs), limit);
  const texts = isolated('an incoming text with missing parts could not be stored');
  await texts.each(left, ({ gateway, reference }) => ({ gateway, reference }), joinOne);
  texts.end();
  return left.length;
}

async function joinOne(text: db.PartedText): Promise<void> {
  const owner = await findSenderOfVirtualNumber(text.recipient);
  if (owner) await inbound.expect(owner.workspaceId, { from: text.sender, to: text.recipient });
  await transaction(async () => {
    const parts = await db.listInboundPartsForUpdate(text);
    if (parts.length === 0) return;
    if (owner) return join(owner.workspaceId, text, parts);
    // The workspace has lost the number since the parts arrived.
    await db.deleteInboundParts(text);
    unmatched(text.gateway, 'recipient');
  });
}

/** Carriers write numbers with and without the plus. */
function numberOf(text: string): PhoneNumber | null {
  const number = parsePhoneNumber(text.startsWith('+') ? text : `+${text}`);
  return number.ok ? number : null;
}

function nationalNumberOf(text: string, country: string | null): string | null {
  const number = country === null ? null : parsePhoneNumber(text, country);
  return number?.ok ? number.number : null;
}

const mayWarn = atMostEvery(60_000);

/**
 * Counts a text that no workspace can receive, and warns the operator. The gateway still gets an acknowledgement,
 * because its carrier would otherwise send the text again for days.
 */
function unmatched(gateway: string, what: 'sender' | 'recipient'): void {
  count('sms_inbound_unmatched', { gateway, what });
  if (mayWarn())
    logger.warn(
      { gateway, what },
      'an incoming text was not stored: its number belongs to no workspace, or its sender cannot be answered',
    );
}
