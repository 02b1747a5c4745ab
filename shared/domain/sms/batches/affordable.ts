import { findSmsBalance } from '../../../db/sms/balances.ts';
import { findHasOlderUnpaidBatch, type SmsBatchRecord } from '../../../db/sms/batches/batches.ts';
import { findHasHeldSms } from '../../../db/sms/messages.ts';
import type { PausedReason } from '../../../schemas/sms/batches.ts';
import * as keyUsage from '../../api-keys/usage.ts';
import type { Made } from './messages.ts';

/** The balance and the key's allowance that a batch can use, as they were a moment ago. */
export type Means = {
  /** In ten-thousandths of a pound; null: without limit. */
  balance: number | null;
  room: keyUsage.PartsAllowance;
};

type ChargedBatch = Pick<SmsBatchRecord, 'id' | 'workspaceId' | 'lineageId'>;

/** Returns null where no key is left that the batch can count against. */
export async function findMeans(batch: ChargedBatch, at: Date): Promise<Means | null> {
  const { workspaceId } = batch;
  const [room, balance] = await Promise.all([
    keyUsage.findRoom(workspaceId, batch.lineageId, at),
    spendable(batch),
  ]);
  return room && { balance, room };
}

/**
 * Returns the balance that the batch may spend: 0 while held texts or older unpaid batches are there, which are paid
 * first.
 */
async function spendable({ id, workspaceId }: ChargedBatch): Promise<number | null> {
  const balance = await findSmsBalance(workspaceId);
  if (balance === null) return null;
  const others = (await findHasHeldSms(workspaceId)) || (await findHasOlderUnpaidBatch(workspaceId, id));
  return others ? 0 : balance;
}

/** The first message that does not fit, and why. `rows`: how many rows come before it; these are sent. */
export type Shortage = {
  rows: number;
  reason: Extract<PausedReason, 'insufficient_balance' | 'limit_reached'>;
  cost: number;
  parts: number;
};

/** Returns the first message that the balance or the limits do not allow, if any. A message that fails at once is free. */
export function shortageOf(made: Made[], { balance, room }: Means): Shortage | null {
  let [cost, parts] = [0, 0];
  for (const [rows, one] of made.entries()) {
    if (!one || one.reason) continue;
    const price = one.message.cost.gbp ?? 0;
    const shortage = { rows, cost: price, parts: one.message.parts };
    if (balance !== null && cost + price > balance) return { ...shortage, reason: 'insufficient_balance' };
    if (parts + one.message.parts > room.parts) return { ...shortage, reason: 'limit_reached' };
    cost += price;
    parts += one.message.parts;
  }
  return null;
}
