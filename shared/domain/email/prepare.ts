import { now } from '../../common/clock.ts';
import { type FieldErrors, invalidFields, problem } from '../../common/errors.ts';
import { Faults, faultsIn, type Refuse, type Usable } from '../../common/faults.ts';
import type * as db from '../../db/email/emails.ts';
import { compareKey } from '../../formats/email/address.ts';
import { newId } from '../../formats/ids.ts';
import { excerptOf } from '../../formats/text-excerpt.ts';
import type { NewEmail } from '../../schemas/email/email.ts';
import type { Caller } from '../../schemas/scopes.ts';
import * as waiting from '../work/waiting.ts';
import { refuseBlocked } from '../workspace/workspaces.ts';
import { checkAttachments, type NewAttachment } from './attachments.ts';
import { checkBody, renderContent, sourceOf } from './content.ts';
import { queued } from './record.ts';
import { checkSchedule, checkSender, normalTag, parseField } from './rules.ts';
import type { PreparedEmail } from './send.ts';
import { withOpenImage } from './tracking/links.ts';

/**
 * Does all for a new email that needs no transaction: the rules, the sending domain, and Liquid in its sandbox.
 * Rendering here and not in the worker tells the caller of a mistake at once, and fixes the bytes: a second attempt
 * sends the same bytes as the first. All faults of a request are reported together.
 */
export async function prepare(caller: Caller, request: NewEmail): Promise<PreparedEmail> {
  const faults = new Faults();
  await refuseBlocked(caller.workspaceId);
  if (request.bypassSuppressions && caller.kind === 'app')
    throw problem('forbidden', { detail: 'A connected app cannot set bypassSuppressions' });

  const time = now();
  const id = newId('email', time);
  const { recipient, rendered, attachments } = await check(caller, request, { id, time }, faults.refuse);
  // A fault that is known already may be the reason for an empty body.
  if (rendered && !faults.areAny) checkBody(request, rendered.body, faults.refuse);
  if (!rendered || !recipient || faults.areAny) throw invalidFields(faults.errors);
  const storedBytes = sizeOf(rendered.body, attachments);
  await waiting.check(caller.workspaceId, { messages: 1, bytes: storedBytes });

  const record = queued(
    {
      id,
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
      storedBytes,
    },
    time,
  );
  const { html } = rendered.body;
  const isTracked = record.trackOpens && html !== null;
  return {
    record,
    body: isTracked ? { ...rendered.body, html: withOpenImage(html, record.id) } : rendered.body,
    attachments,
  };
}

/** Returns the faults for which `prepare` would refuse a request. Skips fields of the wrong shape. */
export async function faultsOf(caller: Caller, request: Usable<NewEmail>): Promise<FieldErrors> {
  const time = now();
  return faultsIn((refuse) => check(caller, request, { id: newId('email', time), time }, refuse));
}

const nothing = { format: 'html', html: null, text: null } as const;

/** Checks a request by all rules, even after a fault: a fault of the sender does not hide one in the content. */
async function check(
  caller: Caller,
  request: Usable<NewEmail>,
  { id, time }: { id: string; time: Date },
  refuse: Refuse,
) {
  const sender = parseField('sender', request.sender, refuse);
  const recipient = parseField('recipient', request.recipient, refuse);
  const source = await sourceOf(caller, request, refuse);
  checkSchedule(request.scheduledAt ?? null, time, refuse);
  if (sender)
    await checkSender(
      caller.workspaceId,
      { sender, recipient, isScheduled: request.scheduledAt != null },
      refuse,
    );
  const attachments = await checkAttachments(request, refuse);
  // Render even without content: the subject may have a fault of its own.
  const rendered = await renderContent(caller, request, source ?? nothing, { id, time }, refuse);
  return { recipient, rendered, attachments };
}

function sizeOf({ html, text }: db.EmailBody, attachments: readonly NewAttachment[]): number {
  const ofBody = Buffer.byteLength(html ?? '') + Buffer.byteLength(text ?? '');
  return attachments.reduce((sum, { sizeBytes }) => sum + sizeBytes, ofBody);
}
