import { now } from '../../common/clock.ts';
import { type FieldErrors, invalid, problem } from '../../common/errors.ts';
import { isUnusable, throwAny, type Usable } from '../../common/faults.ts';
import * as uses from '../../db/email/include-uses.ts';
import { listEmailIncludesByNames } from '../../db/email/includes.ts';
import * as db from '../../db/email/templates.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { newId } from '../../formats/ids.ts';
import { includeNames } from '../../formats/templates/mjml-includes.ts';
import {
  type EmailTemplate,
  type EmailTemplateChanges,
  type EmailTemplateQuery,
  type EmailTemplateRendering,
  mostEmailTemplates,
  type NewEmailTemplate,
  type RenderedEmailTemplate,
} from '../../schemas/email/templates.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { decodeCursor, encodeCursor } from '../requests/cursors.ts';
import { pageOfLong } from '../requests/long-pages.ts';
import { busy, changedMeanwhile, orNameTaken, refusal, worded } from '../templates.ts';
import { checkSource, type EmailSource, renderSource } from './sources.ts';
import { linkOf } from './tracking/links.ts';

/** For sending: whatever its format. */
export const findByName = db.findEmailTemplateByName;

/** Renders and compiles the source, which belongs into no transaction. */
export async function prepareNew(caller: Caller, request: NewEmailTemplate): Promise<db.EmailTemplateRecord> {
  const at = now();
  const record: db.EmailTemplateRecord = {
    id: newId('etemplate', at),
    name: request.name,
    description: request.description || null,
    format: request.format ?? 'html',
    html: request.html,
    text: request.text ?? '',
    sampleData: request.sampleData ?? null,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  await check(caller, record, at);
  return record;
}

export async function create(
  { workspaceId }: Caller,
  record: db.EmailTemplateRecord,
): Promise<EmailTemplate> {
  // Locked, so that two requests at once cannot both make the last template that a workspace may have.
  await findWorkspaceForUpdate(workspaceId);
  if ((await db.findEmailTemplateCount(workspaceId)) >= mostEmailTemplates)
    throw problem('limit_exceeded', {
      detail: `A workspace has at most ${mostEmailTemplates} email templates`,
    });
  await orNameTaken(db.insertEmailTemplate(workspaceId, record));
  await keepUses(workspaceId, record);
  return toWire(record);
}

/** The changed record, once it has been checked, and the version that it is made from. */
export type EmailTemplateChange = { record: db.EmailTemplateRecord; from: number };

export async function prepareChange(
  caller: Caller,
  id: string,
  changes: EmailTemplateChanges,
): Promise<EmailTemplateChange> {
  const before = await db.findEmailTemplate(caller.workspaceId, id);
  if (!before) throw problem('not_found');
  const { record, isSource, isDescribed } = changed(before, changes);
  if (isSource) await check(caller, record, now());
  return { record: isSource || isDescribed ? record : before, from: before.version };
}

export async function change(
  { workspaceId }: Caller,
  { record, from }: EmailTemplateChange,
): Promise<EmailTemplate> {
  await findWorkspaceForUpdate(workspaceId);
  const before = await db.findEmailTemplateForUpdate(workspaceId, record.id);
  if (!before) throw problem('not_found');
  if (before.version !== from) throw changedMeanwhile();
  if (record.version === from) return toWire(before);
  await orNameTaken(db.updateEmailTemplate(workspaceId, record));
  await keepUses(workspaceId, record);
  return toWire(record);
}

/** A field that is left out or null stays; an empty description clears. */
function changed(before: db.EmailTemplateRecord, changes: Usable<EmailTemplateChanges>) {
  const after: db.EmailTemplateRecord = {
    ...before,
    name: changes.name ?? before.name,
    description: changes.description == null ? before.description : changes.description || null,
    format: changes.format ?? before.format,
    html: changes.html ?? before.html,
    text: changes.text ?? before.text,
    sampleData: changes.sampleData ?? before.sampleData,
    version: before.version + 1,
  };
  const isOther = (...fields: (keyof db.EmailTemplateRecord)[]) =>
    fields.some((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  const isDescribed = isOther('name', 'description', 'format', 'sampleData');
  const at = now();
  // API decisions §4: html and text alone leave it; and it never falls.
  if (isDescribed && at > before.updatedAt) after.updatedAt = at;
  return { record: after, isSource: isOther('html', 'text', 'format', 'sampleData'), isDescribed };
}

async function check(caller: Caller, record: db.EmailTemplateRecord, at: Date): Promise<void> {
  const errors = await faultsOf(caller, record, at);
  throwAny(errors);
}

type Checked = EmailSource & Pick<db.EmailTemplateRecord, 'sampleData'>;

async function faultsOf({ workspaceId }: Caller, record: Checked, at: Date): Promise<FieldErrors> {
  const source = { ...record, text: record.text || null };
  const result = await checkSource({ workspaceId, source, sampleData: record.sampleData, now: at });
  if (result.ok) return {};
  if (result.busy) throw busy();
  return worded(result.faults, ({ part, isOfSource, message }) => [
    part === 'data' ? 'sampleData' : part,
    isOfSource || part === 'data' ? message : `with sampleData ${message}`,
  ]);
}

/** The faults for which `prepareNew` would refuse a request, as far as the fields can be used. */
export function faultsOfNew(caller: Caller, request: Usable<NewEmailTemplate>): Promise<FieldErrors> {
  const { html = null, text, sampleData } = request;
  // MJML or not, it is Liquid.
  const isKnown = !isUnusable(request, 'format');
  const source = { format: request.format ?? 'html', html, text: text || null };
  return faultsOf(caller, { ...source, sampleData: isKnown ? (sampleData ?? null) : null }, now());
}

/** The same of `prepareChange`. */
export async function faultsOfChange(
  caller: Caller,
  id: string,
  changes: Usable<EmailTemplateChanges>,
): Promise<FieldErrors> {
  const before = await db.findEmailTemplate(caller.workspaceId, id);
  if (!before) return {};
  const { record, isSource } = changed(before, changes);
  if (!isSource) return {};
  const isKnown = !isUnusable(changes, 'format') && !isUnusable(changes, 'sampleData');
  const format = isUnusable(changes, 'format') ? 'html' : record.format;
  const html = isUnusable(changes, 'html') ? null : record.html;
  return faultsOf(caller, { ...record, format, html, sampleData: isKnown ? record.sampleData : null }, now());
}

/** In the transaction that stores the source: from then on its includes are in use. */
async function keepUses(workspaceId: string, record: db.EmailTemplateRecord): Promise<void> {
  const names = record.format === 'mjml' ? includeNames(record.html) : [];
  const known = new Set((await listEmailIncludesByNames(workspaceId, names)).map(({ name }) => name));
  // One may have been deleted since the source was checked.
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined) throw invalid('html', `has a fault: there is no include named ${missing}`);
  await uses.insertIncludeUses(workspaceId, { kind: 'template', id: record.id }, names);
}

export async function find({ workspaceId }: Caller, id: string): Promise<EmailTemplate> {
  const record = await db.findEmailTemplate(workspaceId, id);
  if (!record) throw problem('not_found');
  return toWire(record);
}

export async function list(
  { workspaceId }: Caller,
  { limit, cursor }: EmailTemplateQuery,
): Promise<{ data: EmailTemplate[]; nextCursor: string | null }> {
  const binding = { workspaceId, listing: 'email-templates' };
  const beforeId = cursor ? decodeCursor<{ id: string }>(binding, cursor).id : null;
  const found = await db.listEmailTemplateLengths(workspaceId, { limit: limit + 1, beforeId });
  const { ids, isLast } = pageOfLong(found, limit);
  return {
    data: (await db.listEmailTemplatesByIds(workspaceId, ids)).map(toWire),
    nextCursor: isLast ? null : encodeCursor(binding, { id: ids.at(-1)! }),
  };
}

export async function remove({ workspaceId }: Caller, id: string): Promise<void> {
  await findWorkspaceForUpdate(workspaceId);
  if (!(await db.deleteEmailTemplate(workspaceId, id))) throw problem('not_found');
  await uses.deleteIncludeUses(workspaceId, id);
}

/** As an email with this data would be; nothing is sent. */
export async function render(
  { workspaceId }: Caller,
  id: string,
  { data, subject }: EmailTemplateRendering,
): Promise<RenderedEmailTemplate> {
  const record = await db.findEmailTemplate(workspaceId, id);
  if (!record) throw problem('not_found');
  const rendered = await renderSource({
    workspaceId,
    source: { ...record, text: record.text || null },
    subject: subject ?? null,
    // A marketing email has a link of its own there.
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

/** The faults for which `render` would refuse a request, as far as the fields can be used. */
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

function toWire(record: db.EmailTemplateRecord): EmailTemplate {
  return {
    id: record.id,
    name: record.name,
    description: record.description,
    format: record.format,
    html: record.html,
    text: record.text,
    sampleData: record.sampleData,
    createdAt: record.createdAt.toISOString(),
    updatedAt: record.updatedAt.toISOString(),
  };
}
