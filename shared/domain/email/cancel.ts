import { now } from '../../common/clock.ts';
import { orNotFound, problem } from '../../common/errors.ts';
import * as db from '../../db/email/emails.ts';
import type { Email } from '../../schemas/email/email.ts';
import type { Caller } from '../../schemas/scopes.ts';
import * as events from '../events/events.ts';
import { show } from '../requests/visibility.ts';
import { eventOf, toWire } from './record.ts';

/** Cancels a scheduled email that still waits to send (API decisions §7). */
export async function cancel(caller: Caller, emailId: string): Promise<Email> {
  const isCancelled = await db.updateEmailCancelled(caller.workspaceId, emailId, now());
  const record = orNotFound(await db.findEmail(caller.workspaceId, emailId));
  if (!isCancelled)
    throw problem('not_cancellable', {
      detail:
        record.scheduledAt === null
          ? 'The email was not scheduled: it had no scheduledAt'
          : record.status === 'queued'
            ? 'The scheduled time has passed: the email is being sent, or will be sent soon'
            : `The email no longer waits to be sent: its status is ${record.status}`,
    });
  await events.record(caller.workspaceId, eventOf(record));
  return show(caller, toWire(record));
}
