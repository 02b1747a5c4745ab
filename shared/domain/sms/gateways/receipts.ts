import { setTimeout as sleep } from 'node:timers/promises';
import { batcher } from '../../../common/batcher.ts';
import { now } from '../../../common/clock.ts';
import { forgetAtEnd } from '../../../common/closing.ts';
import { isolated } from '../../../common/isolated.ts';
import { count } from '../../../common/metrics.ts';
import { fitting } from '../../../db/client/outside-text.ts';
import { afterCommit, outsideTransaction, transaction } from '../../../db/client.ts';
import { insertEvents } from '../../../db/events/events.system.ts';
import {
  findSmsOfGatewayForUpdate,
  listSmsOfGatewaysForUpdate,
  updateSmsEnds,
  withoutErasedContactsOfAny,
} from '../../../db/sms/messages.system.ts';
import { countInBatch, type SmsRecord } from '../../../db/sms/messages.ts';
import { findSmsOfPartForUpdate, updateSmsPartDelivered } from '../../../db/sms/parts.system.ts';
import * as db from '../../../db/sms/receipts.system.ts';
import type { SmsReason } from '../../../schemas/sms/sms.ts';
import { wholeOfFirstPart } from '../../../transports/sms/http/part-reference.ts';
import * as events from '../../events/events.ts';
import * as simulator from '../../simulator/wake.ts';
import { advance, eventOf } from '../record.ts';

/** Receipts: the reports of gateways about messages that they took. */

/**
 * Applies a receipt; a receipt that says nothing new changes nothing. A receipt may come before the gateway's answer to
 * the message is stored. Such a receipt is stored too, and waits for that answer.
 */
export async function apply(receipt: db.ReportedReceipt): Promise<{ isKnown: boolean }> {
  if (await outsideTransaction(() => applyTogether(receipt))) return { isKnown: true };
  if (await applyToMessage(receipt)) return { isKnown: true };
  await db.insertUnmatchedReceipt(receipt, now());
  // The reference may have been stored since the look-up.
  return { isKnown: await match(receipt.gateway, receipt.reference) };
}

/**
 * The longest wait for the result of a text. A result that cannot be written must not delay the receipts of other
 * texts. After this time, the receipt of the text is stored as unmatched.
 */
const longestWaitMs = 2_000;

/**
 * Applies receipts that come at the same time in one transaction. Returns false for receipts that it does not apply:
 * receipts of texts of several parts, and of unknown texts.
 */
const applyTogether = batcher<db.ReportedReceipt, boolean>({
  maxItems: 100,
  maxInFlight: 2,
  run: async (receipts) => {
    const results = receipts.flatMap(
      ({ gateway, reference }) => underWay.get(nameOf(gateway, reference)) ?? [],
    );
    if (results.length > 0)
      await Promise.race([Promise.all(results), sleep(longestWaitMs, undefined, { ref: false })]);
    return transaction(async () => {
      const known = new Map(
        (await listSmsOfGatewaysForUpdate(receipts)).map((message) => [
          nameOf(message.gateway!, message.gatewayReference!),
          message,
        ]),
      );
      for (const [name, { parts }] of known) if (parts !== 1) known.delete(name);
      const ends: SmsRecord[] = [];
      const isKnown = receipts.map(({ gateway, reference, reason }) => {
        const name = nameOf(gateway, reference);
        const message = known.get(name);
        if (message?.status !== 'sent') return message !== undefined;
        const ended = endOf(message, reason);
        // Of several receipts of one message, the first decides.
        known.set(name, ended);
        ends.push(ended);
        return true;
      });
      if (ends.length > 0) await end(ends);
      return isKnown;
    });
  },
});

/** Hand-overs of this process whose results are being stored, by gateway and reference. */
const underWay = new Map<string, Promise<unknown>>();

/**
 * Makes receipts of the message that come to this process wait until its result is written. Otherwise the receipts of a
 * fast gateway would first be stored as unmatched, and then be looked up again.
 */
export function follow(
  message: SmsRecord,
  parts: { reference: string }[] | undefined,
  written: Promise<unknown>,
): void {
  for (const reference of referencesOf(message, parts)) {
    const name = nameOf(message.gateway!, reference);
    const forget = () => {
      if (underWay.get(name) === over) underWay.delete(name);
    };
    const over = written.then(forget, forget);
    underWay.set(name, over);
  }
}

/**
 * Returns the references that receipts may name: a text of several parts may get a receipt for each part, or one for
 * all of it.
 */
function referencesOf(message: SmsRecord, parts: { reference: string }[] = []): string[] {
  return [...new Set([message.gatewayReference!, ...parts.map(({ reference }) => reference)])];
}

const nameOf = (gateway: string, reference: string) =>
  `${gateway} ${fitting('sms_messages.gateway_reference', reference)}`;

async function end(messages: SmsRecord[]): Promise<void> {
  await updateSmsEnds(messages);
  const shown = await withoutErasedContactsOfAny(messages);
  await insertEvents(shown.map((message) => ({ workspaceId: message.workspaceId, event: eventOf(message) })));
  for (const message of messages) {
    await countInBatch(message.workspaceId, 'sent', message);
    count('sms_receipts', { outcome: message.status });
  }
  afterCommit(events.wakeRelay);
}

function endOf(message: SmsRecord, reason: SmsReason | null): SmsRecord {
  const at = now();
  return reason ? advance(message, 'failed', { at, reason }) : advance(message, 'delivered', { at });
}

/**
 * Applies receipts that came before the result of the message's hand-over was written. `parts`: the parts of a text
 * that has several.
 */
export async function expect(message: SmsRecord, parts?: { reference: string }[]): Promise<void> {
  const gateway = message.gateway!;
  const references = referencesOf(message, parts);
  const there = await outsideTransaction(() =>
    Promise.all(references.map((reference) => early({ gateway, reference }))),
  );
  for (const receipt of there) if (receipt) await match(gateway, receipt.reference);
  if (gateway === simulator.gateway) simulator.wake(message.workspaceId);
}

/** Finds a receipt that came early. Mostly there is none, so one query asks for all messages of a moment. */
const early = batcher<db.MessageReference, db.ReportedReceipt | null>({
  maxItems: 100,
  maxInFlight: 2,
  run: async (items) => {
    const keyOf = ({ gateway, reference }: db.MessageReference) => `${gateway} ${reference}`;
    const found = new Map(
      (await db.listUnmatchedReceipts(items)).map((receipt) => [keyOf(receipt), receipt]),
    );
    return items.map((item) => found.get(keyOf(item)) ?? null);
  },
});

/** The place where the next `matchLeft` continues. */
let place: db.MessageReference | null = null;
forgetAtEnd(() => {
  place = null;
});

/**
 * Matches receipts that were left over when a process ended between two steps. If there are many, each call takes the
 * next of them.
 */
export async function matchLeft(limit: number): Promise<number> {
  const { matchable, next } = await db.listMatchableReceipts(place, limit);
  const receipts = isolated('a receipt could not be matched');
  const isWhole = await receipts.each(
    matchable,
    (receipt) => receipt,
    ({ gateway, reference }) => match(gateway, reference),
  );
  if (isWhole) place = next;
  receipts.end();
  return matchable.length;
}

async function match(gateway: string, reference: string): Promise<boolean> {
  const receipt = await db.findUnmatchedReceipt(gateway, reference);
  if (!receipt || !(await applyToMessage(receipt))) return false;
  await db.deleteUnmatchedReceipt(gateway, reference);
  return true;
}

/** Returns false where no message is known by this reference, or where parts of it are still to be handed over. */
async function applyToMessage({ gateway, reference, reason }: db.ReportedReceipt): Promise<boolean> {
  return transaction(async () => {
    const whole =
      (await findSmsOfGatewayForUpdate(gateway, reference)) ?? (await ofOnlyPart(gateway, reference));
    // A text and its first part have the same reference. If a gateway gave it to two texts, the receipt is for the
    // newer one.
    const found = await findSmsOfPartForUpdate(gateway, reference);
    const ofPart = whole && found && found.id < whole.id ? null : found;
    const message = ofPart ?? whole;
    // A text some of whose parts are still to be handed over is not sent yet: the receipt waits.
    if (!message || (ofPart && message.status === 'queued')) return false;
    // A part that one gateway took counts no more once another gateway has taken the whole text.
    if (message.status !== 'sent' || message.gateway !== gateway) return true;
    if (ofPart && !reason && !(await updateSmsPartDelivered(message.id, gateway, reference)).areAll)
      return true;
    await end([endOf(message, reason)]);
    return true;
  });
}

/** Finds the text of one part whose only part has this reference: a gateway may number that part, too. */
async function ofOnlyPart(gateway: string, reference: string): Promise<SmsRecord | null> {
  const own = wholeOfFirstPart(reference);
  const message = own === null ? null : await findSmsOfGatewayForUpdate(gateway, own);
  return message?.parts === 1 ? message : null;
}
