import { afterCommit } from '../../db/client.ts';
import * as db from '../../db/emails.ts';
import { sendEmail } from '../../jobs/send-email.ts';
import { count } from '../../metrics.ts';
import { enqueue } from '../../queue.ts';
import type { Email } from '../../schemas/email.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { eventOf, toWire } from '../email-record.ts';
import * as events from '../events.ts';
import { show } from '../visibility.ts';
import type { PreparedEmail } from './prepare.ts';

/** Stores the email and its first event, and wakes a worker once both are committed. */
export async function send(caller: Caller, prepared: PreparedEmail): Promise<Email> {
  await store(prepared);
  return show(caller, toWire(prepared.record));
}

/** The same for whoever has no caller to answer. */
export async function store({ record, body }: PreparedEmail): Promise<void> {
  await db.insertEmail(record.workspaceId, record, body);
  await events.record(record.workspaceId, eventOf(record));
  wake(record);
  afterCommit(() => count('emails_accepted', { kind: record.kind }));
}

/** The job's id names the claim that it leads to, so waking twice makes one job. */
export function wake(email: db.EmailRecord): void {
  if (email.parked) return;
  enqueue(
    sendEmail,
    { emailId: email.id },
    { lane: email.kind, id: `${email.id}-${email.claims + 1}`, at: email.dueAt },
  );
}
