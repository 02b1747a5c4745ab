import { batcher } from '../batcher.ts';
import { now } from '../clock.ts';
import { outsideTransaction, transaction } from '../db/client.ts';
import { type SmsRecord, updateSms } from '../db/sms-messages.ts';
import { findSmsOfGatewayForUpdate } from '../db/system/sms-messages.ts';
import { findSmsOfPartForUpdate, updateSmsPartDelivered } from '../db/system/sms-parts.ts';
import * as db from '../db/system/sms-receipts.ts';
import { count } from '../metrics.ts';
import { wholeOfFirstPart } from '../transports/sms/http/part-reference.ts';
import * as events from './events.ts';
import * as simulator from './simulator/wake.ts';
import { advance, eventOf } from './sms-record.ts';

/** What gateways say became of the messages that they took. */

/**
 * Applies a receipt; one that says what is known already changes nothing. It may come before the gateway's answer to the
 * message is written down: then it waits for that.
 */
export async function apply(receipt: db.Receipt): Promise<{ isKnown: boolean }> {
  if (await applyToMessage(receipt)) return { isKnown: true };
  await db.insertUnmatchedReceipt(receipt, now());
  // The reference may have been written down since we looked.
  return { isKnown: await match(receipt.gateway, receipt.reference) };
}

/** A message has been handed over: its receipts are awaited, and may be there already. `parts`: of one of several. */
export async function expect(message: SmsRecord, parts: { reference: string }[] = []): Promise<void> {
  const gateway = message.gateway!;
  // The receipts of a text of several parts may be of each, or of all of it.
  const references = new Set([message.gatewayReference!, ...parts.map(({ reference }) => reference)]);
  const there = await outsideTransaction(() =>
    Promise.all([...references].map((reference) => early({ gateway, reference }))),
  );
  for (const receipt of there) if (receipt) await match(gateway, receipt.reference);
  if (gateway === simulator.gateway) simulator.wake(message.gatewayReference!);
}

/** Mostly there is none: a question for all messages of a moment. */
const early = batcher<db.Taken, db.Receipt | null>({
  maxItems: 100,
  maxInFlight: 2,
  run: async (items) => {
    const keyOf = ({ gateway, reference }: db.Taken) => `${gateway} ${reference}`;
    const found = new Map(
      (await db.listUnmatchedReceipts(items)).map((receipt) => [keyOf(receipt), receipt]),
    );
    return items.map((item) => found.get(keyOf(item)) ?? null);
  },
});

/** Those that were left over when a process ended between two steps. */
export async function matchLeft(limit: number): Promise<number> {
  const left = await db.listMatchableReceipts(limit);
  for (const { gateway, reference } of left) await match(gateway, reference);
  return left.length;
}

async function match(gateway: string, reference: string): Promise<boolean> {
  const receipt = await db.findUnmatchedReceipt(gateway, reference);
  if (!receipt || !(await applyToMessage(receipt))) return false;
  await db.deleteUnmatchedReceipt(gateway, reference);
  return true;
}

/** False where no message is known by this reference. */
async function applyToMessage({ gateway, reference, reason }: db.Receipt): Promise<boolean> {
  return transaction(async () => {
    const whole =
      (await findSmsOfGatewayForUpdate(gateway, reference)) ?? (await ofOnlyPart(gateway, reference));
    // The first part has the reference of the whole.
    const ofPart = whole?.parts === 1 ? null : await findSmsOfPartForUpdate(gateway, reference);
    const message = ofPart ?? whole;
    // A text some of whose parts are still to be handed over is not sent yet: the receipt waits.
    if (!message || (ofPart && message.status === 'queued')) return false;
    if (message.status !== 'sent') return true;
    if (ofPart && !reason && !(await updateSmsPartDelivered(message.id, gateway, reference)).areAll)
      return true;
    const at = now();
    const ended = reason ? advance(message, 'failed', { at, reason }) : advance(message, 'delivered', { at });
    await updateSms(message.workspaceId, message, ended);
    await events.record(message.workspaceId, eventOf(ended));
    count('sms_receipts', { outcome: ended.status });
    return true;
  });
}

/** A gateway may count the parts of a text that is of one part only. */
async function ofOnlyPart(gateway: string, reference: string): Promise<SmsRecord | null> {
  const own = wholeOfFirstPart(reference);
  const message = own === null ? null : await findSmsOfGatewayForUpdate(gateway, own);
  return message?.parts === 1 ? message : null;
}
