import { idFromBytes, idToBytes } from '../../formats/ids.ts';
import type { EmailLane } from '../../schemas/lanes.ts';
import { listMatching, type Page } from '../client/listing.ts';
import { byId, bytesOf, type Changed, execute, insertNew, query, type Row } from '../client.ts';
import { changeWaiting } from '../work/waiting-counts.ts';
import { deleteAttachments } from './attachments.ts';

export type EmailKind = EmailLane;
export type EmailStatus = 'queued' | 'sent' | 'delivered' | 'failed' | 'cancelled';
export type EmailReason = {
  category: 'hard_bounce' | 'soft_bounce' | 'complaint' | 'suppressed' | 'rejected' | 'failed';
  code: string;
  description: string | null;
  retryable: boolean;
};

export type EmailRecord = {
  id: string;
  workspaceId: string;
  kind: EmailKind;
  status: EmailStatus;
  sender: string;
  recipient: string;
  /** The form that suppressions and filters compare. */
  recipientKey: string;
  subject: string;
  textExcerpt: string | null;
  reason: EmailReason | null;
  clientReference: string | null;
  clientTag: string | null;
  trackOpens: boolean;
  bypassSuppressions: boolean;
  openCount: number;
  createdAt: Date;
  updatedAt: Date;
  scheduledAt: Date | null;
  sentAt: Date | null;
  deliveredAt: Date | null;
  openedAt: Date | null;
  /** When it must be looked at next; while a worker holds it, the end of the lease. */
  dueAt: Date | null;
  /** Due much later, so without a job in Redis. */
  parked: boolean;
  claims: number;
  retries: number;
  uncertainCount: number;
  handoverAt: Date | null;
  /** When it was handed over for the first time. */
  triedAt: Date | null;
  /** Bytes of the body and the attachments, as long as there are any. */
  storedBytes: number;
  /** How many events this email has had. */
  eventSeq: number;
  requestId: string | null;
};

export type EmailBody = { html: string | null; text: string | null };
/** `attachmentCount`: without one of them the email must not go out. */
export type StoredBody = EmailBody & { attachmentCount: number };

const insertColumns = `(id, workspace_id, kind, status, sender, recipient, recipient_key, subject,
  text_excerpt, client_reference, client_tag, track_opens, bypass_suppressions, created_at, updated_at,
  scheduled_at, due_at, parked, stored_bytes, event_seq, request_id)`;

export async function insertEmail(workspaceId: string, record: EmailRecord, body: StoredBody): Promise<void> {
  const id = idToBytes(record.id);
  await insertNew(`emails ${insertColumns}`, [
    id,
    idToBytes(workspaceId),
    record.kind,
    record.status,
    record.sender,
    record.recipient,
    Buffer.from(record.recipientKey),
    record.subject,
    record.textExcerpt,
    bytesOf(record.clientReference),
    bytesOf(record.clientTag),
    record.trackOpens ? 1 : 0,
    record.bypassSuppressions ? 1 : 0,
    record.createdAt,
    record.updatedAt,
    record.scheduledAt,
    record.dueAt,
    record.parked ? 1 : 0,
    record.storedBytes,
    record.eventSeq,
    bytesOf(record.requestId),
  ]);
  await insertNew('email_bodies (email_id, html, text, attachment_count)', [
    id,
    body.html,
    body.text,
    body.attachmentCount,
  ]);
  await changeWaiting(workspaceId, { messages: 1, bytes: record.storedBytes });
}

export async function findEmail(workspaceId: string, emailId: string): Promise<EmailRecord | null> {
  const [row] = await execute('SELECT * FROM emails WHERE workspace_id = ? AND id = ?', [
    idToBytes(workspaceId),
    idToBytes(emailId),
  ]);
  return row ? toRecord(row) : null;
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
): Promise<{ records: EmailRecord[]; reached: string | null }> {
  const { rows, reached } = await listMatching(
    workspaceId,
    {
      table: 'emails',
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
  return { records: rows.map(toRecord), reached: reached && idFromBytes('email', reached) };
}

/**
 * Cancels a scheduled email that still waits (API decisions §7). False when it does not: the condition is checked and
 * changed in one statement, so that against a worker's claim exactly one of the two wins.
 */
export async function updateEmailCancelled(workspaceId: string, emailId: string, at: Date): Promise<boolean> {
  const { affectedRows } = await execute<Changed>(
    `UPDATE emails ${byId} SET status = 'cancelled', due_at = NULL, parked = 0,
       updated_at = GREATEST(updated_at, ?), event_seq = event_seq + 1
     WHERE workspace_id = ? AND id = ? AND status = 'queued' AND lease_token IS NULL AND scheduled_at > ?`,
    [at, idToBytes(workspaceId), idToBytes(emailId), at],
  );
  if (affectedRows === 1) {
    const { storedBytes } = (await findEmail(workspaceId, emailId))!;
    await changeWaiting(workspaceId, { messages: -1, bytes: -storedBytes });
    await execute('DELETE FROM email_bodies WHERE email_id = ?', [idToBytes(emailId)]);
    await deleteAttachments(workspaceId, emailId);
  }
  return affectedRows === 1;
}

/** Deletes some of the emails to a recipient; those still to be sent stay. */
export async function deleteEmailsOfRecipient(
  workspaceId: string,
  recipientKey: string,
  limit: number,
): Promise<number> {
  const { affectedRows } = await execute<Changed>(
    `DELETE FROM emails WHERE workspace_id = ? AND recipient_key = ? AND status <> 'queued' LIMIT ${limit}`,
    [idToBytes(workspaceId), Buffer.from(recipientKey)],
  );
  return affectedRows;
}

export function toRecord(row: Row): EmailRecord {
  return {
    id: idFromBytes('email', row.id),
    workspaceId: idFromBytes('workspace', row.workspace_id),
    kind: row.kind,
    status: row.status,
    sender: row.sender,
    recipient: row.recipient,
    recipientKey: row.recipient_key.toString(),
    subject: row.subject,
    textExcerpt: row.text_excerpt,
    reason: row.reason_category
      ? {
          category: row.reason_category,
          code: row.reason_code,
          description: row.reason_description,
          retryable: row.reason_retryable === 1,
        }
      : null,
    clientReference: row.client_reference?.toString() ?? null,
    clientTag: row.client_tag?.toString() ?? null,
    trackOpens: row.track_opens === 1,
    bypassSuppressions: row.bypass_suppressions === 1,
    openCount: row.open_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    scheduledAt: row.scheduled_at,
    sentAt: row.sent_at,
    deliveredAt: row.delivered_at,
    openedAt: row.opened_at,
    dueAt: row.due_at,
    parked: row.parked === 1,
    claims: row.claims,
    retries: row.retries,
    uncertainCount: row.uncertain_count,
    handoverAt: row.handover_at,
    triedAt: row.tried_at,
    storedBytes: row.stored_bytes,
    eventSeq: row.event_seq,
    requestId: row.request_id?.toString() ?? null,
  };
}

export type EmailEnd = {
  id: string;
  status: EmailRecord['status'];
  reasonCategory: string | null;
  reasonCode: string | null;
  updatedAt: Date;
  deliveredAt: Date | null;
};

/** How the newest emails to a recipient have ended, newest first. */
export async function listEndsOfRecipient(
  workspaceId: string,
  recipientKey: string,
  limit: number,
): Promise<EmailEnd[]> {
  const rows = await query(
    `SELECT id, status, reason_category, reason_code, updated_at, delivered_at
     FROM emails FORCE INDEX (emails_by_recipient)
     WHERE workspace_id = ? AND recipient_key = ? ORDER BY id DESC LIMIT ?`,
    [idToBytes(workspaceId), bytesOf(recipientKey), limit],
  );
  return rows.map((row) => ({
    id: idFromBytes('email', row.id),
    status: row.status,
    reasonCategory: row.reason_category,
    reasonCode: row.reason_code,
    updatedAt: row.updated_at,
    deliveredAt: row.delivered_at,
  }));
}
