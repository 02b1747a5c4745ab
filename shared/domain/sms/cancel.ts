import { now } from '../../common/clock.ts';
import { orNotFound, problem } from '../../common/errors.ts';
import { withoutErasedContacts } from '../../db/sms/contacts.ts';
import { findSmsForUpdate, updateSms } from '../../db/sms/messages.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { SmsMessage } from '../../schemas/sms/sms.ts';
import * as events from '../events/events.ts';
import { show } from '../requests/visibility.ts';
import * as balance from './balance.ts';
import { advance, eventOf, toWire } from './record.ts';

/** Cancels a message that is held, or scheduled and still waits to send. The row is locked, so no worker claims it. */
export async function cancel(caller: Caller, smsId: string): Promise<SmsMessage> {
  const { workspaceId } = caller;
  const found = orNotFound(await findSmsForUpdate(workspaceId, smsId));
  const { record, isLeased } = found;
  const at = now();
  const isScheduled = record.status === 'queued' && !isLeased && record.scheduledAt! > at;
  if (record.status !== 'held' && !isScheduled)
    throw problem('not_cancellable', {
      detail:
        record.status !== 'queued'
          ? `The message no longer waits to be sent: its status is ${record.status}`
          : record.scheduledAt === null
            ? 'The message was not scheduled: it had no scheduledAt'
            : 'The scheduled time has passed: the message is being sent, or will be sent soon',
    });
  const cancelled = advance(record, 'cancelled', { at });
  await updateSms(workspaceId, record, cancelled);
  const [shown] = await withoutErasedContacts(workspaceId, [cancelled]);
  await events.record(workspaceId, eventOf(shown!));
  await balance.giveBack(cancelled);
  return show(caller, toWire(shown!));
}
