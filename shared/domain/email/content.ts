import { problem } from '../../common/errors.ts';
import { isPartlyUnusable, isUnusable, type Refuse, type Usable } from '../../common/faults.ts';
import type { EmailBody } from '../../db/email/emails.ts';
import type { NewEmail } from '../../schemas/email/email.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { type EmailSource, renderSource, type TemplateSourceFault } from './sources.ts';
import { findByName } from './templates.ts';
import { linkOf } from './tracking/links.ts';

/** Renders the content of a new email and checks it, for the request that sends it. */

const maxSubjectLength = 998;

/**
 * Returns the source that the request names, and refuses faults that show before rendering. Null: there is no source.
 */
export async function sourceOf(
  { workspaceId }: Caller,
  request: Usable<NewEmail>,
  refuse: Refuse,
): Promise<EmailSource | null> {
  const { content, template, format } = request;
  if (template?.name != null) {
    if (content && !isPartlyUnusable(request, 'content'))
      refuse('content', 'cannot be combined with template.name');
    if (format) refuse('format', 'is allowed only with content, not with template.name');
    const stored = await findByName(workspaceId, template.name);
    if (!stored) refuse('template.name', 'is not the name of a template of this workspace');
    return stored && { format: stored.format, html: stored.html, text: stored.text || null };
  }
  // A field of the wrong shape may be the content that is meant, so then content is not called missing.
  const isKnown =
    !isUnusable(request, 'content') &&
    !isUnusable(request, 'template') &&
    !(template && isUnusable(template, 'name')) &&
    !(content && (isUnusable(content, 'html') || isUnusable(content, 'text')));
  const [html, text] = [content?.html || null, content?.text || null];
  if (isBlank(html) && isBlank(text)) {
    if (!isKnown) return null;
    refuse('content', 'must have html or text that is not empty; or give template.name instead of content');
    return null;
  }
  return { format: format ?? 'html', html, text };
}

/**
 * Returns the merge values that the platform adds: a marketing email can show its opt-out link, beside the header of
 * RFC 8058.
 */
function ownData(kind: NewEmail['kind'], id: string): Record<string, string> {
  return kind === 'marketing' ? { unsubscribeUrl: linkOf('unsubscribe', id) } : {};
}

function isBlank(part: string | null): boolean {
  return part === null || part.trim() === '';
}

/**
 * Leaves out a part that renders to nothing beside one that does not. Programs show the html where there is one, so the
 * recipient would see an empty email.
 */
function withoutBlank({ html, text }: EmailBody): EmailBody {
  if (isBlank(html) && isBlank(text)) return { html, text };
  return { html: isBlank(html) ? null : html, text: isBlank(text) ? null : text };
}

/** Refuses an email that renders to nothing. */
export function checkBody(request: NewEmail, { html, text }: EmailBody, refuse: Refuse): void {
  if (!isBlank(html) || !isBlank(text)) return;
  const field = request.template?.name == null ? 'content' : 'template.data';
  refuse(field, 'renders to an email without any html or text');
}

/** Returns subject and body as they are sent, or null after `refuse`. Throws a Problem if a later try may succeed. */
export async function renderContent(
  { workspaceId }: Caller,
  request: Usable<NewEmail>,
  source: EmailSource,
  { id, time }: { id: string; time: Date },
  refuse: Refuse,
): Promise<{ subject: string; body: EmailBody } | null> {
  const rendered = await renderSource({
    workspaceId,
    source,
    subject: request.subject ?? null,
    data: { ...request.template?.data, ...ownData(request.kind, id) },
    now: request.scheduledAt ?? time,
  });
  if (!rendered.ok) {
    if (rendered.busy)
      throw problem('email_not_queued', {
        detail:
          'Too many templates of this workspace are waiting to be rendered. Send this request again later',
        retryAfterSeconds: 2,
      });
    const { template } = request;
    const hasData = !isUnusable(request, 'template') && !(template && isUnusable(template, 'data'));
    // Without usable data, only the faults of the source itself are certain.
    for (const fault of rendered.faults.filter(({ isOfSource }) => hasData || isOfSource))
      refuse(...(request.template?.name == null ? ofContent(fault) : ofTemplate(fault)));
    return null;
  }
  if (rendered.subject === null) return null;
  const { subject } = rendered;
  // Values come from the caller's data: they must not start a header line of their own.
  // biome-ignore lint: control characters are what this looks for
  if (/[\u0000-\u001f\u007f\u2028\u2029]/.test(subject))
    refuse('subject', 'must not render to text with control characters or line breaks');
  else if (subject.trim() === '') refuse('subject', 'renders to an empty text');
  else if ([...subject].length > maxSubjectLength)
    refuse('subject', `renders to more than ${maxSubjectLength} characters`);
  else return { subject, body: withoutBlank(rendered) };
  return null;
}

function ofContent({ part, message }: TemplateSourceFault): [field: string, message: string] {
  if (part === 'data') return ['template.data', message];
  return [part === 'subject' ? part : `content.${part}`, message];
}

/**
 * Names the field at fault. The source of a template was valid when it was saved, so the data is at fault, unless the
 * includes have changed.
 */
function ofTemplate({ part, message, isOfSource }: TemplateSourceFault): [field: string, message: string] {
  if (part === 'subject') return [part, message];
  if (part === 'data') return ['template.data', message];
  return isOfSource
    ? ['template.name', `cannot be used: its ${part} ${message}`]
    : ['template.data', `does not fit the template: its ${part} ${message}`];
}
