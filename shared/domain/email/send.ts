import { count } from '../../common/metrics.ts';
import { afterCommit } from '../../db/client.ts';
import * as db from '../../db/email/emails.ts';
import { sendEmail } from '../../jobs/send-email.ts';
import { enqueue } from '../../queue/queue.ts';
import type { Email } from '../../schemas/email/email.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { jobName } from '../../work/job-name.ts';
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
  const permit = record.parked ? null : admission.tryAdmit(record.kind, record.workspaceId, record.dueAt!);
  const stored = { ...record, parked: !permit?.isGranted };
  await db.insertEmail(record.workspaceId, stored, { ...body, attachmentCount: attachments.length });
  await storeAttachments(record.workspaceId, record.id, attachments);
  await events.record(record.workspaceId, eventOf(record));
  if (permit?.isGranted) {
    wake(record, permit.rank);
    afterCommit(permit.committed);
  } else if (permit)
    afterCommit(() => {
      count('emails_parked', { kind: record.kind });
      admission.checkSoon(record.kind, record.workspaceId);
    });
  afterCommit(() => count('emails_accepted', { kind: record.kind }));
}

function wake(record: db.EmailRecord, rank: number): void {
  const { id, workspaceId, kind, scheduledAt } = record;
  const lane = admission.laneOf(kind, workspaceId);
  enqueue(
    sendEmail,
    { emailId: id, workspaceId, ...(lane !== kind && { kind }) },
    { lane, id: jobName(record), at: scheduledAt, priority: rank },
  );
}
