import { render } from '../../cage/cage.ts';
import type { EmailBody } from '../../db/emails.ts';
import { problem } from '../../errors.ts';
import type { NewEmail } from '../../schemas/email.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { Refuse } from './rules.ts';

const maxSubjectLength = 998;

/** What can be said of a request's content before anything is rendered. */
export function checkContent(request: NewEmail, refuse: Refuse): void {
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

/** Subject and body as they are sent, or null after `refuse`. Throws a Problem where it may be tried again later. */
export async function renderContent(
  caller: Caller,
  request: NewEmail,
  time: Date,
  refuse: Refuse,
): Promise<{ subject: string; body: EmailBody } | null> {
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
