import { query, sqlTime, transaction } from '../../../shared/db/client.ts';
import { type EmailReason, type EmailRecord, findEmail } from '../../../shared/db/email/emails.ts';
import { updateReportedEmail } from '../../../shared/db/email/mail-reports.system.ts';
import { updateOpens } from '../../../shared/db/email/opens.system.ts';
import { insertEvents } from '../../../shared/db/events/events.system.ts';
import { listEventsOfRecord } from '../../../shared/db/events/events.ts';
import { type SmsRecord, updateSms } from '../../../shared/db/sms/messages.ts';
import { insertManySms } from '../../../shared/db/sms/of-batches.ts';
import * as emails from '../../../shared/domain/email/record.ts';
import * as events from '../../../shared/domain/events/events.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import * as reports from '../../../shared/domain/reports/reports.ts';
import * as texts from '../../../shared/domain/sms/record.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { copyRow, idOfCopy } from '../database/copied-rows.ts';
import { acceptEmail } from './accepted-email.ts';
import type { workspace } from './factory.ts';

type Own = Awaited<ReturnType<typeof workspace>>;

/** Makes an email that was accepted at this time. */
export async function emailAt(from: Own, at: Date, changes: Record<string, unknown>): Promise<EmailRecord> {
  const id = newId('email', at);
  await acceptEmail(from, changes, { id, createdAt: at, updatedAt: at });
  return (await findEmail(from.workspaceId, id))!;
}

/** Copies an email that was just made, with its event, to recipients that are given in SQL. */
export async function copyEmail(
  { workspaceId }: Own,
  email: EmailRecord,
  count: number,
  recipientOf: (n: string) => string,
): Promise<void> {
  const [event] = await listEventsOfRecord(workspaceId, email.id);
  const recipient = recipientOf('n');
  await copyRow('emails', idToBytes(email.id), count, {
    id: idOfCopy,
    recipient,
    recipient_key: recipient,
  });
  await copyRow('events', idToBytes(event!.id), count, {
    id: idOfCopy,
    record_id: idOfCopy.replace('one.id', 'one.record_id'),
  });
}

/** Makes a text that was accepted at this time. */
export async function textAt(own: Own, at: Date, changes: Partial<SmsRecord>): Promise<SmsRecord> {
  const [text] = await textsAt(own, at, [changes]);
  return text!;
}

/** Makes a text for each of these changes, all with three statements, so that hundreds of texts take no time. */
export async function textsAt(
  { workspaceId }: Own,
  at: Date,
  all: Partial<SmsRecord>[],
): Promise<SmsRecord[]> {
  const messages = all.map((changes) =>
    texts.newSms(at, {
      workspaceId,
      sender: 'Acme',
      recipient: '+447700900123',
      content: 'Hello',
      country: 'GB',
      parts: 1,
      encoding: 'gsm7',
      cost: { gbp: 400, eur: 460 },
      charged: 400,
      lineageId: null,
      contactId: null,
      dueAt: null,
      parked: false,
      requestId: null,
      ...changes,
    }),
  );
  await transaction(async () => {
    await insertManySms(workspaceId, messages);
    await insertEvents(messages.map((message) => ({ workspaceId, event: texts.eventOf(message) })));
  });
  return messages;
}

/** Moves the text to its next status, with its event, in one transaction as the platform does. */
export async function advanceText(
  before: SmsRecord,
  status: SmsRecord['status'],
  {
    gateway = before.gateway ?? 'simulator',
    ...changes
  }: Parameters<typeof texts.advance>[2] & { gateway?: string },
): Promise<SmsRecord> {
  const hasGateway = status === 'sent' || before.gateway !== null || gateway !== 'simulator';
  const after = { ...texts.advance(before, status, changes), gateway: hasGateway ? gateway : null };
  await transaction(async () => {
    await updateSms(before.workspaceId, before, after);
    await query('UPDATE sms_messages SET gateway = ? WHERE id = ?', [after.gateway, idToBytes(after.id)]);
    await events.record(before.workspaceId, texts.eventOf(after));
  });
  return after;
}

/** Moves the email to its next status. */
export async function advanceEmail(
  before: EmailRecord,
  status: EmailRecord['status'],
  changes: emails.EmailChanges,
): Promise<EmailRecord> {
  return storeEmail(before, emails.advance(before, status, changes));
}

/** Records a complaint, which leaves the status as it is. */
export function complainOf(before: EmailRecord, at: Date): Promise<EmailRecord> {
  const reason: EmailReason = { category: 'complaint', code: 'abuse', description: null, retryable: false };
  return storeEmail(before, emails.remark(before, { at, reason }), 'email.complained');
}

export async function openEmail(before: EmailRecord, at: Date): Promise<EmailRecord> {
  const after = { ...emails.remark(before, { at }), openedAt: at, openCount: 1 };
  await transaction(async () => {
    await updateOpens([after]);
    await events.record(before.workspaceId, emails.eventOf(after, 'email.opened'));
  });
  return after;
}

async function storeEmail(
  before: EmailRecord,
  after: EmailRecord,
  type?: Parameters<typeof emails.eventOf>[1],
): Promise<EmailRecord> {
  await transaction(async () => {
    if (!(await updateReportedEmail(before, after))) throw new Error('The email is another one by now');
    // `updateReportedEmail` does not store sent_at, because no report changes it.
    if (after.status === 'sent')
      await query('UPDATE emails SET sent_at = ? WHERE id = ?', [sqlTime(after.sentAt), idToBytes(after.id)]);
    await events.record(before.workspaceId, emails.eventOf(after, type));
  });
  return after;
}

/** Counts all events so far for the reports. */
export async function countAll(): Promise<void> {
  await relay.relayAll();
  await reports.countEvents();
}
