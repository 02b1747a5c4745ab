import { now } from '../../clock.ts';
import { findContactIdOfNumber } from '../../db/contacts.ts';
import type { SmsRecord } from '../../db/sms-messages.ts';
import { findSuppressionOfNumber } from '../../db/suppressions.ts';
import { type FieldErrors, invalidFields, problem } from '../../errors.ts';
import { newId } from '../../formats/ids.ts';
import { type PhoneNumber, parsePhoneNumber } from '../../formats/phone-number.ts';
import { isNear } from '../../queue.ts';
import { requestId } from '../../request-context.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { NewSms } from '../../schemas/sms.ts';
import { checkSchedule, normalTag, type Refuse } from '../email/rules.ts';
import { findApproved } from '../senders.ts';
import type { ShortenedLink } from '../short-links.ts';
import { inParts, renderSms, type SmsText } from '../sms-content.ts';
import { costOf, priceOf } from '../sms-prices.ts';
import { findByName } from '../sms-templates.ts';
import { busy } from '../template-rules.ts';
import * as waiting from '../waiting.ts';
import * as workspaces from '../workspaces.ts';

/** `links`: what is to be stored with it. */
export type Prepared = { message: SmsRecord; links: ShortenedLink[] };

/**
 * Everything about a new message that needs no transaction: the rules, the sender, and Liquid in its cage. Every fault of
 * the request is reported at once.
 */
export async function prepare(caller: Caller, request: NewSms): Promise<Prepared> {
  const { workspaceId } = caller;
  const errors: FieldErrors = {};
  const refuse: Refuse = (field, message) => {
    (errors[field] ??= []).push(message);
  };
  const workspace = await workspaces.findRecent(workspaceId);
  if (workspace?.sendingBlocked) throw problem('sending_blocked');

  const time = now();
  const recipient = recipientOf(request, refuse);
  const sender = recipient && (await senderOf(workspaceId, request, recipient, refuse));
  checkSchedule(request.scheduledAt ?? null, time, refuse);
  const text = await textOf(workspaceId, request, time, refuse);
  if (!text || !recipient || sender === null || Object.keys(errors).length > 0) throw invalidFields(errors);
  if (await findSuppressionOfNumber(workspaceId, recipient.number))
    throw problem('recipient_suppressed', { detail: 'The recipient is on the suppression list' });
  await waiting.check(workspaceId, { messages: 1, bytes: 0 });

  const parts = text.parts.length;
  const dueAt = request.scheduledAt ?? time;
  const message: SmsRecord = {
    id: newId('sms', time),
    workspaceId,
    direction: 'outbound',
    status: 'queued',
    sender,
    recipient: recipient.number,
    content: text.text,
    country: recipient.country,
    parts,
    encoding: text.encoding,
    cost: costOf(parts, await priceOf(recipient.country, time)),
    charged: 0,
    lineageId: caller.lineageId,
    reason: null,
    clientReference: request.clientReference ?? null,
    clientTag: request.clientTag == null ? null : normalTag(request.clientTag),
    batchId: null,
    contactId: await findContactIdOfNumber(workspaceId, recipient.number),
    templateName: request.template?.name ?? null,
    inReplyTo: null,
    createdAt: time,
    updatedAt: time,
    scheduledAt: request.scheduledAt ?? null,
    sentAt: null,
    deliveredAt: null,
    dueAt,
    lane: 'default',
    parked: !isNear(dueAt),
    claims: 0,
    retries: 0,
    uncertainCount: 0,
    handoverAt: null,
    gateway: null,
    gatewayReference: null,
    eventSeq: 1,
    requestId: requestId(),
  };
  return { message, links: text.links };
}

function recipientOf(request: NewSms, refuse: Refuse): PhoneNumber | null {
  const parsed = parsePhoneNumber(request.recipient);
  if (parsed.ok) return parsed;
  refuse('recipient', parsed.message);
  return null;
}

/** The name, or the number in E.164, that the phone shows. */
async function senderOf(
  workspaceId: string,
  request: NewSms,
  { country }: PhoneNumber,
  refuse: Refuse,
): Promise<string | null> {
  const approved = await findApproved(workspaceId, request.sender ?? null, country);
  if (approved.ok) return approved.sender.address;
  refuse('sender', approved.message);
  return null;
}

async function textOf(
  workspaceId: string,
  { content, template, unicode, scheduledAt, shortenLinks }: NewSms,
  time: Date,
  refuse: Refuse,
): Promise<SmsText | null> {
  if ((content == null) === (template == null)) {
    refuse('content', content == null ? 'give it, or a template' : 'cannot be combined with template');
    return null;
  }
  const options = { ...(unicode != null && { unicode }), shortenLinks: shortenLinks === true };
  if (content != null) {
    const fitted = inParts(content, options);
    if (fitted.ok) return fitted;
    refuse('content', fitted.message);
    return null;
  }
  const { name, data } = template!;
  const stored = await findByName(workspaceId, name);
  if (!stored) {
    refuse('template.name', 'there is no template with this name');
    return null;
  }
  const source = { workspaceId, content: stored.content, data: data ?? {}, now: scheduledAt ?? time };
  const rendered = await renderSms({ ...source, ...options });
  if (rendered.ok) return rendered;
  if (rendered.busy) throw busy();
  for (const { part, message, isOfSource } of rendered.faults) {
    if (part === 'data') refuse('template.data', message);
    else refuse(isOfSource ? 'template.name' : 'template.data', `content of the template ${message}`);
  }
  return null;
}
