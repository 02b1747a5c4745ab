import { now } from '../../common/clock.ts';
import { type FieldErrors, invalid } from '../../common/errors.ts';
import { isUnusable, type Usable } from '../../common/faults.ts';
import * as uses from '../../db/email/include-uses.ts';
import { listEmailIncludesByNames } from '../../db/email/includes.ts';
import { type EmailTemplateRecord, emailTemplates } from '../../db/email/templates.ts';
import { newId } from '../../formats/ids.ts';
import { includeNames } from '../../formats/templates/mjml-includes.ts';
import {
  EmailTemplate,
  type EmailTemplateChanges,
  type EmailTemplateRendering,
  mostEmailTemplates,
  type NewEmailTemplate,
  type RenderedEmailTemplate,
} from '../../schemas/email/templates.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { wireOf } from '../requests/wire.ts';
import { busy, refusal, worded } from '../template-faults.ts';
import { versionedTemplates } from '../versioned-templates.ts';
import { checkSource, type EmailSource, renderSource } from './sources.ts';
import { linkOf } from './tracking/links.ts';

const kind = versionedTemplates<EmailTemplateRecord, NewEmailTemplate, EmailTemplateChanges, EmailTemplate>({
  rows: emailTemplates,
  idPrefix: 'etemplate',
  listing: 'email-templates',
  plural: 'email templates',
  most: mostEmailTemplates,
  sourceOf: ({ format, html, text }) => ({ format: format ?? 'html', html, text: text ?? '' }),
  sourceFields: ['format', 'html', 'text'],
  // A change of html or text alone leaves `updatedAt` as it is (API decisions §4).
  datedFields: ['name', 'description', 'format', 'sampleData'],
  faultsOf,
  toWire: (record) => wireOf(EmailTemplate, record),
  // Once a template is stored, its includes are in use.
  uses: { keep: keepUses, remove: uses.deleteIncludeUses },
});

export const { prepareNew, create, prepareChange, change, find, list, remove } = kind;

/** Finds a template for sending, whatever its format. */
export const findByName = emailTemplates.findByName;

type CheckedEmailSource = EmailSource & Pick<EmailTemplateRecord, 'sampleData'>;

async function faultsOf({ workspaceId }: Caller, record: CheckedEmailSource, at: Date): Promise<FieldErrors> {
  const source = { ...record, text: record.text || null };
  const result = await checkSource({ workspaceId, source, sampleData: record.sampleData, now: at });
  if (result.ok) return {};
  if (result.busy) throw busy();
  return worded(result.faults, ({ part, isOfSource, message }) => [
    part === 'data' ? 'sampleData' : part,
    isOfSource || part === 'data' ? message : `with sampleData ${message}`,
  ]);
}

/** Returns the faults for which `prepareNew` would refuse a request. Skips fields of the wrong shape. */
export function faultsOfNew(caller: Caller, request: Usable<NewEmailTemplate>): Promise<FieldErrors> {
  const { html = null, text, sampleData } = request;
  // The html is Liquid in either format, so it is checked even where the format cannot be used.
  const isKnown = !isUnusable(request, 'format');
  const source = { format: request.format ?? 'html', html, text: text || null };
  return faultsOf(caller, { ...source, sampleData: isKnown ? (sampleData ?? null) : null }, now());
}

/** Returns the faults for which `prepareChange` would refuse a request. Skips fields of the wrong shape. */
export async function faultsOfChange(
  caller: Caller,
  id: string,
  changes: Usable<EmailTemplateChanges>,
): Promise<FieldErrors> {
  const before = await emailTemplates.find(caller.workspaceId, id);
  if (!before) return {};
  const { record, isSource } = kind.changed(before, changes);
  if (!isSource) return {};
  const isKnown = !isUnusable(changes, 'format') && !isUnusable(changes, 'sampleData');
  const format = isUnusable(changes, 'format') ? 'html' : record.format;
  const html = isUnusable(changes, 'html') ? null : record.html;
  return faultsOf(caller, { ...record, format, html, sampleData: isKnown ? record.sampleData : null }, now());
}

async function keepUses(workspaceId: string, record: EmailTemplateRecord): Promise<void> {
  const names = record.format === 'mjml' ? includeNames(record.html) : [];
  const known = new Set((await listEmailIncludesByNames(workspaceId, names)).map(({ name }) => name));
  // An include may have been deleted since the source was checked.
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined) throw invalid('html', `has a fault: there is no include named ${missing}`);
  await uses.insertIncludeUses(workspaceId, { kind: 'template', id: record.id }, names);
}

/** Renders a template as an email with this data would be; nothing is sent. */
export async function render(
  caller: Caller,
  id: string,
  { data, subject }: EmailTemplateRendering,
): Promise<RenderedEmailTemplate> {
  const record = await kind.findRecord(caller, id);
  const rendered = await renderSource({
    workspaceId: caller.workspaceId,
    source: { ...record, text: record.text || null },
    subject: subject ?? null,
    // A sample: each marketing email gets an opt-out link of its own here.
    data: { unsubscribeUrl: linkOf('unsubscribe', newId('email', now())), ...(data ?? record.sampleData) },
    now: now(),
  });
  if (rendered.ok)
    return {
      ...(rendered.subject === null ? {} : { subject: rendered.subject }),
      html: rendered.html ?? '',
      text: rendered.text ?? '',
    };
  if (rendered.busy) throw busy();
  throw refusal(rendered.faults, ({ part, isOfSource, message }) =>
    part === 'data' || part === 'subject' || isOfSource
      ? [part, message]
      : ['data', `does not fit the template: its ${part} ${message}`],
  );
}

/** Returns the faults for which `render` would refuse a request. Skips fields of the wrong shape. */
export async function faultsOfRendering(
  { workspaceId }: Caller,
  { data, subject }: Usable<EmailTemplateRendering>,
): Promise<FieldErrors> {
  const source = { format: 'html', html: null, text: null } as const;
  const rendered = await renderSource({
    workspaceId,
    source,
    subject: subject ?? null,
    data: data ?? {},
    now: now(),
  });
  const faults = rendered.ok ? [] : (rendered.faults ?? []);
  return worded(
    faults.filter(({ isOfSource }) => isOfSource),
    ({ part, message }) => [part, message],
  );
}
