import { render } from '../cage/cage.ts';
import { now } from '../clock.ts';
import { afterCommit } from '../db/client.ts';
import * as db from '../db/emails.ts';
import { type FieldErrors, invalid, problem } from '../errors.ts';
import { compareKey, type Mailbox, parseMailbox } from '../formats/email-address.ts';
import { excerptOf } from '../formats/text-excerpt.ts';
import { sendEmail } from '../jobs/send-email.ts';
import { count } from '../metrics.ts';
import { enqueue } from '../queue.ts';
import type { Email, EmailFilter, NewEmail } from '../schemas/email.ts';
import type { Caller } from '../schemas/scopes.ts';
import { decodeCursor, encodeCursor } from './cursors.ts';
import { findSigningDomain } from './email-domains.ts';
import { eventOf, queued, toWire } from './email-record.ts';
import * as events from './events.ts';
import { show } from './visibility.ts';
import * as workspaces from './workspaces.ts';

const maxSubjectLength = 998;

/** A request that has been checked and rendered, so that the transaction only has to store it. */
export type PreparedEmail = { record: db.EmailRecord; body: db.EmailBody };

/**
 * Everything about a new email that needs no transaction: the rules, the sending domain, and Liquid in its cage.
 * Rendering here rather than at the worker tells the caller of a mistake at once, and fixes the bytes: a second
 * attempt sends what the first did. Every fault of the request is reported at once.
 */
export async function prepare(caller: Caller, request: NewEmail): Promise<PreparedEmail> {
  const errors: FieldErrors = {};
  const refuse = (field: string, message: string) => {
    (errors[field] ??= []).push(message);
  };
  const workspace = await workspaces.findRecent(caller.workspaceId);
  if (workspace?.sendingBlocked) throw problem('sending_blocked');
  if (request.bypassSuppressions && caller.kind === 'app')
    throw problem('forbidden', { detail: 'A connected app cannot set bypassSuppressions' });

  const time = now();
  const sender = parse('sender', request.sender, true, refuse);
  const recipient = parse('recipient', request.recipient, false, refuse);
  checkContent(request, refuse);
  checkSchedule(request.scheduledAt ?? null, time, refuse);
  if (sender && !(await findSigningDomain(caller.workspaceId, sender.domain)))
    refuse('sender', `${sender.domain} is not a verified sending domain of this workspace`);
  const rendered = Object.keys(errors).length === 0 ? await renderParts(caller, request, time, refuse) : null;
  if (!rendered || !recipient)
    throw problem('validation_failed', {
      detail: Object.entries(errors)
        .map(([field, [message]]) => `${field} ${message}`)
        .join('; '),
      errors,
    });

  const record = queued(
    {
      workspaceId: caller.workspaceId,
      kind: request.kind ?? 'transactional',
      sender: request.sender,
      recipient: request.recipient,
      recipientKey: compareKey(recipient.address),
      subject: rendered.subject,
      textExcerpt: excerptOf(rendered.body),
      clientReference: request.clientReference ?? null,
      clientTag: request.clientTag == null ? null : normalTag(request.clientTag),
      trackOpens: request.trackOpens ?? false,
      bypassSuppressions: request.bypassSuppressions ?? false,
      scheduledAt: request.scheduledAt ?? null,
    },
    time,
  );
  return { record, body: rendered.body };
}

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

/** A tag as it is stored (spec §4). Lower-cased last: the lower case of some letters is longer, and not a letter. */
function normalTag(tag: string): string {
  return tag.replace(/[^A-Za-z0-9]/gu, '-').toLowerCase();
}

function parse(
  field: string,
  text: string,
  allowDisplayName: boolean,
  refuse: (field: string, message: string) => void,
): Mailbox | null {
  const parsed = parseMailbox(text, { allowDisplayName });
  if (parsed.ok) return parsed.mailbox;
  refuse(field, parsed.message);
  return null;
}

function checkContent(request: NewEmail, refuse: (field: string, message: string) => void): void {
  const { content, template } = request;
  if (template?.name != null) {
    if (content) refuse('content', 'cannot be combined with template.name');
    if (request.format) refuse('format', 'goes with content only');
    refuse('template.name', 'there is no template with this name');
  } else if (content?.html == null && content?.text == null)
    refuse('content', 'give html, text or both, or name a template');
  if (request.format === 'mjml') refuse('format', 'mjml is not available in this version');
  if (request.trackOpens) refuse('trackOpens', 'is not available in this version');
  if (request.attachments?.length) refuse('attachments', 'are not available in this version');
}

const fiveMinutesMs = 5 * 60_000;

function checkSchedule(
  scheduledAt: Date | null,
  time: Date,
  refuse: (field: string, message: string) => void,
): void {
  if (!scheduledAt) return;
  const threeMonthsAhead = new Date(time);
  threeMonthsAhead.setUTCMonth(time.getUTCMonth() + 3);
  // 30 November and three months is the end of February, not the start of March.
  if (threeMonthsAhead.getUTCDate() !== time.getUTCDate()) threeMonthsAhead.setUTCDate(0);
  if (scheduledAt.getTime() <= time.getTime() + fiveMinutesMs)
    refuse('scheduledAt', 'must be more than 5 minutes ahead');
  else if (scheduledAt >= threeMonthsAhead) refuse('scheduledAt', 'must be less than 3 months ahead');
}

async function renderParts(
  caller: Caller,
  request: NewEmail,
  time: Date,
  refuse: (field: string, message: string) => void,
): Promise<{ subject: string; body: db.EmailBody } | null> {
  const html = request.content?.html ?? null;
  const text = request.content?.text ?? null;
  const parts = [
    { name: 'subject', source: request.subject, escape: false },
    ...(html === null ? [] : [{ name: 'content.html', source: html, escape: true }]),
    ...(text === null ? [] : [{ name: 'content.text', source: text, escape: false }]),
  ];
  const result = await render({
    workspaceId: caller.workspaceId,
    parts,
    data: request.template?.data ?? {},
    now: request.scheduledAt ?? time,
  });
  if (!result.ok) {
    if ('busy' in result)
      throw problem('email_not_queued', {
        detail: 'Too many templates of this workspace wait to be rendered',
        retryAfterSeconds: 2,
      });
    for (const error of result.errors)
      refuse(
        error.part === 'data' ? 'template.data' : error.part,
        error.line ? `${error.message} (line ${error.line}, column ${error.column})` : error.message,
      );
    return null;
  }
  const output = (name: string) => result.outputs[parts.findIndex((part) => part.name === name)] ?? null;
  const subject = output('subject')!;
  // Values come from the caller's data: they must not start a header line of their own.
  // biome-ignore lint: control characters are what this looks for
  if (/[\u0000-\u001f\u007f\u2028\u2029]/.test(subject))
    refuse('subject', 'renders to text with control characters');
  else if (subject.trim() === '') refuse('subject', 'renders to nothing');
  else if ([...subject].length > maxSubjectLength)
    refuse('subject', `renders to more than ${maxSubjectLength} characters`);
  else return { subject, body: { html: output('content.html'), text: output('content.text') } };
  return null;
}

export async function find(caller: Caller, emailId: string): Promise<Email> {
  const record = await db.findEmail(caller.workspaceId, emailId);
  if (!record) throw problem('not_found');
  return show(caller, toWire(record));
}

export async function list(
  caller: Caller,
  query: EmailFilter,
): Promise<{ data: Email[]; nextCursor: string | null }> {
  const { limit, cursor, recipient, ...filter } = query;
  const binding = { workspaceId: caller.workspaceId, listing: 'emails', filter: { recipient, ...filter } };
  const before = cursor ? decodeCursor<{ id: string }>(binding, cursor).id : null;
  if (recipient !== undefined && !caller.scopes.has('recipients.read'))
    throw problem('forbidden', { detail: 'Filtering by recipient needs the scope recipients.read' });
  const recipientKey = recipient === undefined ? undefined : filterKey(recipient);
  // One more than the page tells whether there is another.
  const records = await db.listEmails(
    caller.workspaceId,
    { ...filter, clientTag: filter.clientTag && normalTag(filter.clientTag), recipientKey },
    { limit: limit + 1, before },
  );
  const page = records.slice(0, limit);
  return {
    data: page.map((record) => show(caller, toWire(record))),
    nextCursor: records.length > limit ? encodeCursor(binding, { id: page.at(-1)!.id }) : null,
  };
}

function filterKey(recipient: string): string {
  const parsed = parseMailbox(recipient, { allowDisplayName: false });
  if (!parsed.ok) throw invalid('recipient', parsed.message);
  return compareKey(parsed.mailbox.address);
}

export async function listEvents(caller: Caller, emailId: string, version: string) {
  await find(caller, emailId);
  return { data: await events.listOfRecord(caller, emailId, version), nextCursor: null };
}

/** Cancels a scheduled email that still waits to send (spec §3). */
export async function cancel(caller: Caller, emailId: string): Promise<Email> {
  const isCancelled = await db.updateEmailCancelled(caller.workspaceId, emailId, now());
  const record = await db.findEmail(caller.workspaceId, emailId);
  if (!record) throw problem('not_found');
  if (!isCancelled)
    throw problem('not_cancellable', {
      detail:
        record.scheduledAt === null
          ? 'The email is not a scheduled one'
          : `The email no longer waits: its status is ${record.status}`,
    });
  await events.record(caller.workspaceId, eventOf(record));
  return show(caller, toWire(record));
}
