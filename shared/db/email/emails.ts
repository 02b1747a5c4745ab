import { firstUuidAt, idToBytes } from '../../formats/ids.ts';
import type { EmailLane } from '../../schemas/lanes.ts';
import { binaryText, boolean, id, int, sharedId, text, time } from '../client/columns.ts';
import { type ListedPage, listMatching, type Page } from '../client/listing.ts';
import { findRow } from '../client/rows.ts';
import { failureReason, type RecordOf, table } from '../client/table.ts';
import { byId, bytesOf, changeRow, changeRows, execute, insertNew, query } from '../client.ts';
import { changeWaiting } from '../work/waiting-counts.ts';
import { deleteAttachments } from './attachments.ts';

/** The emails of a workspace, for requests that send, read, cancel or erase them. */

export type EmailKind = EmailLane;
export type EmailStatus = 'queued' | 'sent' | 'delivered' | 'failed' | 'cancelled';
export const emails = table('emails', {
  id: id('email'),
  workspaceId: sharedId('workspace'),
  kind: text<EmailKind>(),
  status: text<EmailStatus>(),
  sender: text(),
  recipient: text(),
  /** The form that suppressions and filters compare. */
  recipientKey: binaryText(),
  subject: text(),
  textExcerpt: text().nullable(),
  reason: failureReason<'hard_bounce' | 'soft_bounce' | 'complaint' | 'suppressed' | 'rejected' | 'failed'>(
    'emails',
  ),
  clientReference: binaryText().nullable(),
  clientTag: binaryText().nullable(),
  trackOpens: boolean(),
  bypassSuppressions: boolean(),
  openCount: int(),
  createdAt: time(),
  updatedAt: time(),
  scheduledAt: time().nullable(),
  sentAt: time().nullable(),
  deliveredAt: time().nullable(),
  openedAt: time().nullable(),
  /** When a worker must take the email next. While a worker holds it, the end of the lease. */
  dueAt: time().nullable(),
  /** Without a job in Redis: due much later, or waiting for room there. */
  parked: boolean(),
  claims: int(),
  retries: int(),
  uncertainCount: int(),
  handoverAt: time().nullable(),
  /** When the time for retries began: at the first hand-over, or at a fault of our own before it. */
  triedAt: time().nullable(),
  /** Bytes of the body and the attachments, as long as these are stored. */
  storedBytes: int(),
  /** How many events this email has had. */
  eventSeq: int(),
  requestId: binaryText().nullable(),
});
const accepted = emails.omit(
  'reason',
  'openCount',
  'sentAt',
  'deliveredAt',
  'openedAt',
  'claims',
  'retries',
  'uncertainCount',
  'handoverAt',
  'triedAt',
);
export type EmailRecord = RecordOf<typeof emails>;
export type EmailReason = NonNullable<EmailRecord['reason']>;

export type EmailBody = { html: string | null; text: string | null };
const bodies = table('email_bodies', {
  emailId: id('email'),
  html: text().nullable(),
  text: text().nullable(),
  attachmentCount: int(),
});
/** `attachmentCount`: if one of the attachments is missing, the email must not go out. */
export type StoredBody = EmailBody & { attachmentCount: number };

export async function insertEmail(workspaceId: string, record: EmailRecord, body: StoredBody): Promise<void> {
  await insertNew(accepted.into, accepted.toValues(record));
  await insertNew(bodies.into, bodies.toValues({ ...body, emailId: record.id }));
  await changeWaiting(workspaceId, { messages: 1, bytes: record.storedBytes });
}

export function findEmail(workspaceId: string, emailId: string): Promise<EmailRecord | null> {
  return findRow(workspaceId, emails, { id: emailId });
}

export type EmailRecordFilter = {
  status?: EmailStatus | undefined;
  kind?: EmailKind | undefined;
  recipientKey?: string | undefined;
  clientReference?: string | undefined;
  clientTag?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
};

/** Newest first. */
export async function listEmails(
  workspaceId: string,
  { status, kind, recipientKey, clientReference, clientTag, since, until }: EmailRecordFilter,
  page: Page,
): Promise<ListedPage<EmailRecord>> {
  return listMatching(
    workspaceId,
    {
      table: emails,
      index: 'emails_listed',
      filters: [
        ['status', status, 'emails_by_status'],
        ['kind', kind, 'emails_by_kind'],
        ['recipient_key', bytesOf(recipientKey), 'emails_by_recipient'],
        ['client_reference', bytesOf(clientReference), 'emails_by_reference'],
        ['client_tag', bytesOf(clientTag), 'emails_by_tag'],
      ],
      since,
      until,
    },
    page,
  );
}

/**
 * Cancels a scheduled email that still waits (API decisions §7); false when it no longer waits. One statement checks
 * and changes the row, so against the claim of a worker exactly one of the two wins.
 */
export async function updateEmailCancelled(workspaceId: string, emailId: string, at: Date): Promise<boolean> {
  const isCancelled = await changeRow(
    `UPDATE emails ${byId} SET status = 'cancelled', due_at = NULL, parked = 0,
       updated_at = GREATEST(updated_at, ?), event_seq = event_seq + 1
     WHERE workspace_id = ? AND id = ? AND status = 'queued' AND lease_token IS NULL AND scheduled_at > ?`,
    [at, idToBytes(workspaceId), idToBytes(emailId), at],
  );
  if (!isCancelled) return false;
  const { storedBytes } = (await findEmail(workspaceId, emailId))!;
  await changeWaiting(workspaceId, { messages: -1, bytes: -storedBytes });
  await execute('DELETE FROM email_bodies WHERE email_id = ?', [idToBytes(emailId)]);
  await deleteAttachments(workspaceId, emailId);
  return true;
}

/** Deletes some of the emails to a recipient; those still to be sent stay. */
export function deleteEmailsOfRecipient(
  workspaceId: string,
  recipientKey: string,
  limit: number,
): Promise<number> {
  return changeRows(
    `DELETE FROM emails WHERE workspace_id = ? AND recipient_key = ? AND status <> 'queued' LIMIT ${limit}`,
    [idToBytes(workspaceId), Buffer.from(recipientKey)],
  );
}

/** Counts the emails to a recipient that are still to be sent. */
export async function findWaitingCountOfRecipient(
  workspaceId: string,
  recipientKey: string,
): Promise<number> {
  const [row] = await execute<{ waiting: number }[]>(
    `SELECT COUNT(*) AS waiting FROM emails FORCE INDEX (emails_by_recipient)
     WHERE workspace_id = ? AND recipient_key = ? AND status = 'queued'`,
    [idToBytes(workspaceId), Buffer.from(recipientKey)],
  );
  return row!.waiting;
}

const ends = emails.pick('id', 'status', 'reason', 'createdAt', 'updatedAt', 'deliveredAt');
type EmailEnd = RecordOf<typeof ends>;

/** Lists how emails to a recipient have ended, newest first, starting after the id `before`. */
export async function listEndsOfRecipient(
  workspaceId: string,
  recipientKey: string,
  { before, limit }: { before: string | null; limit: number },
): Promise<EmailEnd[]> {
  return ends.toRecords(
    await query(
      `SELECT ${ends.columns} FROM emails FORCE INDEX (emails_by_recipient)
       WHERE workspace_id = ? AND recipient_key = ? ${before ? 'AND id < ?' : ''} ORDER BY id DESC LIMIT ?`,
      [idToBytes(workspaceId), bytesOf(recipientKey), ...(before ? [idToBytes(before)] : []), limit],
    ),
  );
}

/** Returns whether an email to the recipient was accepted before that time. */
export async function hasEmailTo(workspaceId: string, recipientKey: string, before: Date): Promise<boolean> {
  const found = await query(
    `SELECT 1 FROM emails FORCE INDEX (emails_by_recipient)
     WHERE workspace_id = ? AND recipient_key = ? AND id < ? LIMIT 1`,
    [idToBytes(workspaceId), bytesOf(recipientKey), firstUuidAt(before)],
  );
  return found.length > 0;
}
