import { now } from '../../common/clock.ts';
import { invalidFields, problem } from '../../common/errors.ts';
import {
  Faults,
  faultsIn,
  isPartlyUnusable,
  isUnusable,
  orRefuse,
  type Refuse,
  type Usable,
} from '../../common/faults.ts';
import { findContactIdOfNumber } from '../../db/contacts/contacts.ts';
import { findSmsBalance } from '../../db/sms/balances.ts';
import type { SmsRecord } from '../../db/sms/messages.ts';
import { findSuppressionOfNumber } from '../../db/suppressions.ts';
import { type PhoneNumber, parsePhoneNumber } from '../../formats/sms/phone-number.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { NewSms } from '../../schemas/sms/sms.ts';
import { hasRoute, mayLeave } from '../../transports/sms.ts';
import { checkSchedule, normalTag } from '../email/rules.ts';
import { checkSender, findApproved } from '../senders/senders.ts';
import { busy } from '../template-faults.ts';
import { findByName } from '../templates.ts';
import * as waiting from '../work/waiting.ts';
import { refuseBlocked } from '../workspace/workspaces.ts';
import { inParts, renderSms, type SmsText } from './content.ts';
import { unreachableFrom } from './delivery/reasons.ts';
import { costOf, noPriceMessage, priceOf } from './prices.ts';
import { newSms } from './record.ts';
import type { ShortenedLink } from './short-links/short-links.ts';

/** `links`: the short links to store with the message. */
export type PreparedSms = { message: SmsRecord; links: ShortenedLink[] };

/**
 * Checks and makes a new message, as far as that needs no transaction: the rules, the sender, and Liquid in its
 * sandbox. Every fault of the request is reported at once.
 */
export async function prepare(caller: Caller, request: NewSms): Promise<PreparedSms> {
  const { workspaceId } = caller;
  const faults = new Faults();
  await refuseBlocked(workspaceId);

  const time = now();
  const recipient = recipientOf(request, faults.refuse);
  // The queries need nothing of each other, so the caller waits only for the slowest of them.
  const [{ sender, price, text }, suppression, contactId] = await Promise.all([
    check(workspaceId, request, recipient, time, faults.refuse),
    recipient && findSuppressionOfNumber(workspaceId, recipient.number),
    recipient && findContactIdOfNumber(workspaceId, recipient.number),
  ]);
  if (!text || !recipient || !price || sender === null || faults.areAny) throw invalidFields(faults.errors);
  if (suppression)
    throw problem('recipient_suppressed', {
      detail: 'The recipient is on the suppression list of this workspace',
    });
  await waiting.check(workspaceId, { messages: 1, bytes: 0 });

  const parts = text.parts.length;
  const message = newSms(time, {
    workspaceId,
    sender,
    recipient: recipient.number,
    content: text.text,
    country: recipient.country,
    parts,
    encoding: text.encoding,
    cost: costOf(parts, price),
    lineageId: caller.lineageId,
    clientReference: request.clientReference ?? null,
    clientTag: request.clientTag == null ? null : normalTag(request.clientTag),
    contactId,
    templateName: request.template?.name ?? null,
    scheduledAt: request.scheduledAt ?? null,
  });
  return { message, links: text.links };
}

/** The faults for which `prepare` would refuse a request, as far as the fields can be used. */
export const faultsOf = ({ workspaceId }: Caller, request: Usable<NewSms>) =>
  faultsIn((refuse) => check(workspaceId, request, recipientOf(request, refuse), now(), refuse));

async function check(
  workspaceId: string,
  request: Usable<NewSms>,
  recipient: PhoneNumber | null,
  time: Date,
  refuse: Refuse,
) {
  const sender = isUnusable(request, 'sender')
    ? null
    : await senderOf(workspaceId, request.sender ?? null, recipient, refuse);
  if (recipient && sender !== null && !hasRoute({ sender, recipient: recipient.number }))
    refuse('recipient', unreachableFrom(sender));
  const price = recipient && (await priceOf(recipient.country, time));
  // Without a balance nothing is charged, so no price is needed.
  if (price?.gbp === null && (await findSmsBalance(workspaceId)) !== null)
    refuse('recipient', noPriceMessage(recipient!.country));
  checkSchedule(request.scheduledAt ?? null, time, refuse);
  const text = await textOf(workspaceId, request, time, refuse);
  return { sender, price, text };
}

function recipientOf(request: Usable<NewSms>, refuse: Refuse): PhoneNumber | null {
  if (request.recipient === undefined) return null;
  return orRefuse(parsePhoneNumber(request.recipient), 'recipient', refuse);
}

/** Returns the sender that the phone shows: a name, or a number in E.164. */
async function senderOf(
  workspaceId: string,
  name: string | null,
  recipient: PhoneNumber | null,
  refuse: Refuse,
): Promise<string | null> {
  if (!recipient) {
    // Without a recipient we do not know the country that it must be approved for, but the sender must exist.
    const message = await checkSender(workspaceId, name);
    if (message !== null) refuse('sender', message);
    return null;
  }
  const approved = await findApproved(workspaceId, name, recipient.country, mayLeave(recipient.number));
  return orRefuse(approved, 'sender', refuse)?.sender.address ?? null;
}

async function textOf(
  workspaceId: string,
  request: Usable<NewSms>,
  time: Date,
  refuse: Refuse,
): Promise<SmsText | null> {
  const { content, template, unicode, scheduledAt, shortenLinks } = request;
  const isKnown = () => !isUnusable(request, 'content') && !isPartlyUnusable(request, 'template');
  if ((content == null) === (template == null)) {
    if (!isKnown()) return null;
    refuse(
      'content',
      content == null ? 'is missing: give content or template' : 'cannot be combined with template',
    );
    return null;
  }
  const options = { unicode: unicode ?? undefined, shortenLinks: shortenLinks === true };
  if (content != null) return orRefuse(inParts(content, options), 'content', refuse);
  const { name, data } = template!;
  if (name === undefined) return null;
  const stored = await findByName(workspaceId, name);
  if (!stored) {
    refuse('template.name', 'is not the name of a template of this workspace');
    return null;
  }
  const source = { workspaceId, content: stored.content, data: data ?? {}, now: scheduledAt ?? time };
  const rendered = await renderSms({ ...source, ...options });
  if (rendered.ok) return rendered;
  if (rendered.busy) throw busy();
  for (const { part, message, isOfSource } of rendered.faults) {
    if (isUnusable(template!, 'data') && !isOfSource) continue;
    if (part === 'data') refuse('template.data', message);
    else
      refuse(
        isOfSource ? 'template.name' : 'template.data',
        `${isOfSource ? 'cannot be used' : 'does not fit the template'}: its content ${message}`,
      );
  }
  return null;
}
