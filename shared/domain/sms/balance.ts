import { now } from '../../common/clock.ts';
import { invalid, problem } from '../../common/errors.ts';
import { transaction } from '../../db/client.ts';
import * as db from '../../db/sms/balances.ts';
import { findHasHeldSms, type SmsRecord } from '../../db/sms/messages.ts';
import { releaseSms } from '../../jobs/release-sms.ts';
import { enqueue } from '../../queue/queue.ts';
import * as keyUsage from '../api-keys/usage.ts';
import { noPriceMessage } from './prices.ts';

/**
 * The balance of a workspace for text messages, in ten-thousandths of a pound. A workspace without a balance has no
 * limit.
 */

/**
 * Takes the price of a new message off the balance, in the transaction that accepts the message. Returns null where it
 * cannot be paid now, or where held messages wait already, which go first. From here to the end of the transaction
 * other messages of the workspace wait.
 */
export async function charge(message: SmsRecord): Promise<number | null> {
  const balance = await db.findSmsBalance(message.workspaceId, 'FOR UPDATE');
  if (balance === null) return 0;
  const price = message.cost.gbp;
  if (price === null) throw invalid('recipient', noPriceMessage(message.country));
  if (price > balance || (await findHasHeldSms(message.workspaceId))) return null;
  await take(message.workspaceId, [message]);
  return price;
}

/** Takes the prices of these messages off the balance, which must be locked. */
export async function take(workspaceId: string, messages: Pick<SmsRecord, 'id' | 'cost'>[]): Promise<void> {
  await db.updateSmsBalance(workspaceId, chargesOf(messages));
}

/**
 * Takes the prices of these messages off a balance that is not locked. Returns false where they cannot be paid any
 * more; the caller must then commit nothing.
 */
export async function takeWithin(
  workspaceId: string,
  messages: Pick<SmsRecord, 'id' | 'cost'>[],
): Promise<boolean> {
  return messages.length === 0 || db.updateSmsBalanceWithin(workspaceId, chargesOf(messages));
}

function chargesOf(messages: Pick<SmsRecord, 'id' | 'cost'>[]): db.LedgerEntry[] {
  const createdAt = now();
  return messages.map(({ id, cost }) => ({
    kind: 'charge',
    amount: -(cost.gbp ?? 0),
    smsId: id,
    note: null,
    createdAt,
  }));
}

/**
 * Gives back the price and the parts of a message that no gateway has taken: once, in the transaction that ends the
 * message. A balance that has become unlimited meanwhile stays unlimited.
 */
export async function giveBack(message: SmsRecord): Promise<void> {
  const { workspaceId, lineageId, charged, parts, createdAt } = message;
  if (charged > 0) {
    const entry = { kind: 'refund' as const, amount: charged, smsId: message.id, note: null };
    await db.updateSmsBalance(workspaceId, [{ ...entry, createdAt: now() }]);
  }
  if (lineageId !== null) await keyUsage.giveBack(workspaceId, lineageId, parts, createdAt);
}

/** Gives back the prices and parts of many messages of one workspace at once, as `giveBack` does of one. */
export async function giveBackAll(workspaceId: string, messages: SmsRecord[]): Promise<void> {
  const createdAt = now();
  await db.updateSmsBalance(
    workspaceId,
    messages
      .filter(({ charged }) => charged > 0)
      .map(({ id, charged }) => ({ kind: 'refund', amount: charged, smsId: id, note: null, createdAt })),
  );
  const keyOf = ({ lineageId, createdAt }: SmsRecord) =>
    `${lineageId} ${createdAt.toISOString().slice(0, 10)}`;
  const groups = [...Map.groupBy(messages, keyOf)].toSorted(([one], [other]) => (one < other ? -1 : 1));
  for (const [, group] of groups) {
    const { lineageId, createdAt: reservedAt } = group[0]!;
    const parts = group.reduce((sum, message) => sum + message.parts, 0);
    if (lineageId !== null) await keyUsage.giveBack(workspaceId, lineageId, parts, reservedAt);
  }
}

/** Returns the balance; null where the workspace has no limit. */
export const find = db.findSmsBalance;
export const listLedger = db.listSmsLedger;

const mostAtOnce = 10_000_000_000;

/**
 * Changes a balance, for the operator. Releases the held messages that the new balance can pay for. A workspace without
 * a balance has one from now on.
 */
export async function add(workspaceId: string, amount: number, note: string | null): Promise<number> {
  if (amount === 0 || Math.abs(amount) > mostAtOnce)
    throw problem('validation_failed', {
      detail: 'The amount must be from 0.0001 to 1000000, or from -1000000 to -0.0001',
    });
  const balance = await transaction(async () => {
    const entry = { kind: 'credit' as const, amount, smsId: null, note, createdAt: now() };
    if (amount < 0 && ((await db.findSmsBalance(workspaceId, 'FOR UPDATE')) ?? 0) + amount < 0)
      throw problem('validation_failed', {
        detail: 'The balance cannot fall below zero. Take off a smaller amount',
      });
    await db.insertSmsCredit(workspaceId, entry);
    return (await db.findSmsBalance(workspaceId))!;
  });
  wakeRelease(workspaceId);
  return balance;
}

/** Removes the balance of a workspace, for the operator: nothing is charged any more, and all held messages go out. */
export async function makeUnlimited(workspaceId: string): Promise<void> {
  await transaction(async () => {
    const left = await db.findSmsBalance(workspaceId, 'FOR UPDATE');
    if (left === null) return;
    const closing = { kind: 'closing' as const, amount: -left, smsId: null, note: null, createdAt: now() };
    await db.deleteSmsBalance(workspaceId, closing);
  });
  wakeRelease(workspaceId);
}

/**
 * Wakes the release of held messages. Each credit gets a job of its own, because a job that runs already may miss the
 * credit. All wakes by the sweep share one job id: the sweep asks again and again, and a long release must not get more
 * turns for that.
 */
export function wakeRelease(workspaceId: string, moment: 'credited' | 'swept' = 'credited'): void {
  const id = `${workspaceId}-${moment === 'swept' ? moment : now().getTime()}`;
  enqueue(releaseSms, { workspaceId }, { lane: 'default', id });
}
