import { batcher } from '../batcher.ts';
import { now } from '../clock.ts';
import { outsideTransaction, transaction } from '../db/client.ts';
import { type SmsRecord, updateSms } from '../db/sms-messages.ts';
import { findSmsOfGatewayForUpdate } from '../db/system/sms-messages.ts';
import * as db from '../db/system/sms-receipts.ts';
import { count } from '../metrics.ts';
import * as events from './events.ts';
import * as simulator from './simulator/wake.ts';
import { advance, eventOf } from './sms-record.ts';

/** What gateways say became of the messages that they took. */

/**
 * Applies a receipt; one that says what is known already changes nothing. It may come before the gateway's answer to the
 * message is written down: then it waits for that.
 */
export async function apply(receipt: db.Receipt): Promise<void> {
  if (await applyToMessage(receipt)) return;
  await db.insertUnmatchedReceipt(receipt, now());
  // The reference may have been written down since we looked.
  await match(receipt.gateway, receipt.reference);
}

/** A message has been handed over: its receipt is awaited, and may be there already. */
export async function expect(message: SmsRecord): Promise<void> {
  const taken = { gateway: message.gateway!, reference: message.gatewayReference! };
  const receipt = await outsideTransaction(() => early(taken));
  if (receipt) await match(taken.gateway, taken.reference);
  if (taken.gateway === simulator.gateway) simulator.wake(taken.reference);
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

async function match(gateway: string, reference: string): Promise<void> {
  const receipt = await db.findUnmatchedReceipt(gateway, reference);
  if (receipt && (await applyToMessage(receipt))) await db.deleteUnmatchedReceipt(gateway, reference);
}

/** False where no message is known by this reference. */
async function applyToMessage({ gateway, reference, reason }: db.Receipt): Promise<boolean> {
  return transaction(async () => {
    const message = await findSmsOfGatewayForUpdate(gateway, reference);
    if (!message) return false;
    if (message.status !== 'sent') return true;
    const at = now();
    const ended = reason ? advance(message, 'failed', { at, reason }) : advance(message, 'delivered', { at });
    await updateSms(message.workspaceId, message, ended);
    await events.record(message.workspaceId, eventOf(ended));
    count('sms_receipts', { outcome: ended.status });
    return true;
  });
}
