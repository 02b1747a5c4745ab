import { count } from '../../common/metrics.ts';
import { afterCommit } from '../../db/client.ts';
import * as db from '../../db/email/emails.ts';
import type { Email } from '../../schemas/email/email.ts';
import type { Caller } from '../../schemas/scopes.ts';
import * as events from '../events/events.ts';
import { show } from '../requests/visibility.ts';
import * as waiting from '../work/waiting.ts';
import * as admission from './admission/admission.ts';
import { type NewAttachment, storeAttachments } from './attachments.ts';
import { eventOf, toWire } from './record.ts';

/** A request that has been checked and rendered, so that the transaction only has to store it. */
export type PreparedEmail = { record: db.EmailRecord; body: db.EmailBody; attachments: NewAttachment[] };

/** Stores the email and its first event, and wakes a worker once both are committed. */
export async function send(caller: Caller, prepared: PreparedEmail): Promise<Email> {
  await store(prepared);
  const { workspaceId, storedBytes } = prepared.record;
  // This comes last, because other requests of the workspace may wait from here on.
  await waiting.checkAtCommit(workspaceId, { messages: 1, bytes: storedBytes });
  return show(caller, toWire(prepared.record));
}

/** Stores the email and its first event in the same way, for code that has no caller to answer. */
export async function store({ record, body, attachments }: PreparedEmail): Promise<void> {
  const stored = { ...record, parked: record.parked || !admission.admit(record.kind, record) };
  await db.insertEmail(record.workspaceId, stored, { ...body, attachmentCount: attachments.length });
  await storeAttachments(record.workspaceId, record.id, attachments);
  await events.record(record.workspaceId, eventOf(record));
  afterCommit(() => count('emails_accepted', { kind: record.kind }));
}
