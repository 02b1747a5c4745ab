import { now } from '../../common/clock.ts';
import { isolated } from '../../common/isolated.ts';
import { count } from '../../common/metrics.ts';
import { transaction } from '../../db/client.ts';
import { findSmsBalance } from '../../db/sms/balances.ts';
import { withoutErasedContacts } from '../../db/sms/contacts.ts';
import * as system from '../../db/sms/messages.system.ts';
import { listHeldSmsForUpdate, type SmsRecord, updateSms } from '../../db/sms/messages.ts';
import { isNear } from '../../queue/queue.ts';
import type { DueKind } from '../../work/due.ts';
import { turnMs } from '../../work/turns.ts';
import * as events from '../events/events.ts';
import * as balance from './balance.ts';
import { admit } from './delivery/admission.ts';
import { heldExpired } from './delivery/reasons.ts';
import { advance, eventOf } from './record.ts';

/** Messages that wait until their workspace can pay for them. */

const heldForMs = 72 * 3_600_000;
const batchSize = 100;

/** Returns a new message that cannot be paid for as held: it waits for 72 hours from the time when it was to go out. */
export function held(message: SmsRecord): SmsRecord {
  const since = message.scheduledAt ?? message.createdAt;
  return {
    ...message,
    status: 'held',
    dueAt: new Date(since.getTime() + heldForMs),
    parked: false,
    eventSeq: message.eventSeq + 1,
  };
}

/**
 * Releases held messages that can be paid for now, oldest first, up to the first that cannot, for `longestMs`. Returns
 * how many it released. `isOver`: no more can be released now.
 */
export async function release(
  workspaceId: string,
  longestMs = turnMs,
): Promise<{ released: number; isOver: boolean }> {
  const turnEnd = performance.now() + longestMs;
  for (let released = 0; ; ) {
    const batch = await transaction(() => releaseSome(workspaceId));
    released += batch;
    if (batch < batchSize) return { released, isOver: true };
    if (performance.now() >= turnEnd) return { released, isOver: false };
  }
}

async function releaseSome(workspaceId: string): Promise<number> {
  // The balance is locked first, as by a transaction that accepts a message: messages that come meanwhile go behind.
  let left = await findSmsBalance(workspaceId, 'FOR UPDATE');
  const isCounted = left !== null;
  const at = now();
  const going: SmsRecord[] = [];
  for (const message of await listHeldSmsForUpdate(workspaceId, batchSize)) {
    const price = message.cost.gbp ?? 0;
    if (left !== null) {
      if (price > left) break;
      left -= price;
    }
    const dueAt = message.scheduledAt && message.scheduledAt > at ? message.scheduledAt : at;
    going.push({
      ...advance(message, 'queued', { at }),
      charged: isCounted ? price : 0,
      dueAt,
      parked: !isNear(dueAt),
    });
  }
  if (isCounted) await balance.take(workspaceId, going);
  for (const queued of await withoutErasedContacts(workspaceId, going)) {
    const message = admit(queued);
    await updateSms(workspaceId, { status: 'held' }, message);
    await events.record(workspaceId, eventOf(message));
  }
  count('sms_released', {}, going.length);
  return going.length;
}

/** Messages that were held for too long. The sweep itself ends them, so they need no job. */
export const ends: DueKind = {
  name: 'sms_held',
  table: system.heldTable,
  wake: async (rows) => {
    const expiries = isolated('a text that was held for too long could not be marked as failed');
    await expiries.each(
      rows,
      ({ id }) => ({ smsId: id }),
      ({ id }) => expire(id),
    );
    expiries.end();
  },
};

/** Fails a message, unless it is no longer held. */
async function expire(smsId: string): Promise<void> {
  await transaction(async () => {
    const message = await system.findSmsOfAnyForUpdate(smsId);
    const at = now();
    if (message?.status !== 'held' || message.dueAt! > at) return;
    const { workspaceId } = message;
    const failed = advance(message, 'failed', { at, reason: heldExpired });
    await updateSms(workspaceId, message, failed);
    const [shown] = await withoutErasedContacts(workspaceId, [failed]);
    await events.record(workspaceId, eventOf(shown!));
    await balance.giveBack(failed);
    count('sms_failed');
  });
}

/** Wakes the release of messages that can be paid for now. Returns how many workspaces have some. */
export async function wakeReleases(limit: number): Promise<number> {
  const payable = await system.listWorkspacesToRelease(limit);
  for (const workspaceId of payable) balance.wakeRelease(workspaceId, 'swept');
  return payable.length;
}
