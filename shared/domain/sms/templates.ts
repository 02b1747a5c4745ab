import { now } from '../../common/clock.ts';
import { type FieldErrors, problem } from '../../common/errors.ts';
import { isUnusable, throwAny, type Usable } from '../../common/faults.ts';
import * as db from '../../db/sms/templates.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { newId } from '../../formats/ids.ts';
import type { Caller } from '../../schemas/scopes.ts';
import {
  mostSmsTemplates,
  type NewSmsTemplate,
  type RenderedSmsTemplate,
  type SmsTemplate,
  type SmsTemplateChanges,
  type SmsTemplateQuery,
  type SmsTemplateRendering,
} from '../../schemas/sms/templates.ts';
import { decodeCursor, encodeCursor } from '../requests/cursors.ts';
import { pageOfLong } from '../requests/long-pages.ts';
import { busy, changedMeanwhile, orNameTaken, refusal, worded } from '../templates.ts';
import { checkSource, renderSms } from './content.ts';

/** For sending. */
export const findByName = db.findSmsTemplateByName;

/** Renders the source, which belongs into no transaction. */
export async function prepareNew(caller: Caller, request: NewSmsTemplate): Promise<db.SmsTemplateRecord> {
  const at = now();
  const record: db.SmsTemplateRecord = {
    id: newId('template', at),
    name: request.name,
    description: request.description || null,
    content: request.content,
    sampleData: request.sampleData ?? null,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  await check(caller, record, at);
  return record;
}

export async function create({ workspaceId }: Caller, record: db.SmsTemplateRecord): Promise<SmsTemplate> {
  // Locked, so that two requests at once cannot both make the last template that a workspace may have.
  await findWorkspaceForUpdate(workspaceId);
  if ((await db.findSmsTemplateCount(workspaceId)) >= mostSmsTemplates)
    throw problem('limit_exceeded', { detail: `A workspace has at most ${mostSmsTemplates} SMS templates` });
  await orNameTaken(db.insertSmsTemplate(workspaceId, record));
  return toWire(record);
}

/** The changed record, once it has been checked, and the version that it is made from. */
export type SmsTemplateChange = { record: db.SmsTemplateRecord; from: number };

export async function prepareChange(
  caller: Caller,
  id: string,
  changes: SmsTemplateChanges,
): Promise<SmsTemplateChange> {
  const before = await db.findSmsTemplate(caller.workspaceId, id);
  if (!before) throw problem('not_found');
  const { record, isSource, isOther } = changed(before, changes);
  if (isSource) await check(caller, record, now());
  return { record: isOther ? record : before, from: before.version };
}

export async function change(
  { workspaceId }: Caller,
  { record, from }: SmsTemplateChange,
): Promise<SmsTemplate> {
  const before = await db.findSmsTemplateForUpdate(workspaceId, record.id);
  if (!before) throw problem('not_found');
  if (before.version !== from) throw changedMeanwhile();
  if (record.version === from) return toWire(before);
  await orNameTaken(db.updateSmsTemplate(workspaceId, record));
  return toWire(record);
}

/** A field that is left out or null stays; an empty description clears. */
function changed(before: db.SmsTemplateRecord, changes: Usable<SmsTemplateChanges>) {
  const at = now();
  const after: db.SmsTemplateRecord = {
    ...before,
    name: changes.name ?? before.name,
    description: changes.description == null ? before.description : changes.description || null,
    content: changes.content ?? before.content,
    sampleData: changes.sampleData ?? before.sampleData,
    version: before.version + 1,
    // It never falls, whatever the clocks of the machines say.
    updatedAt: at > before.updatedAt ? at : before.updatedAt,
  };
  const isSource =
    after.content !== before.content ||
    JSON.stringify(after.sampleData) !== JSON.stringify(before.sampleData);
  const isOther = isSource || after.name !== before.name || after.description !== before.description;
  return { record: after, isSource, isOther };
}

async function check(caller: Caller, record: db.SmsTemplateRecord, at: Date): Promise<void> {
  const errors = await faultsOf(caller, record, at);
  throwAny(errors);
}

type Checked = Pick<db.SmsTemplateRecord, 'content' | 'sampleData'>;

/** The faults for which `prepareNew` would refuse a request, as far as the fields can be used. */
export async function faultsOfNew(caller: Caller, request: Usable<NewSmsTemplate>): Promise<FieldErrors> {
  const { content, sampleData } = request;
  return content === undefined ? {} : faultsOf(caller, { content, sampleData: sampleData ?? null }, now());
}

/** The same of `prepareChange`. */
export async function faultsOfChange(
  caller: Caller,
  id: string,
  changes: Usable<SmsTemplateChanges>,
): Promise<FieldErrors> {
  const before = await db.findSmsTemplate(caller.workspaceId, id);
  if (!before || isUnusable(changes, 'content')) return {};
  const { record, isSource } = changed(before, changes);
  const sampleData = isUnusable(changes, 'sampleData') ? null : record.sampleData;
  return isSource ? faultsOf(caller, { ...record, sampleData }, now()) : {};
}

async function faultsOf({ workspaceId }: Caller, record: Checked, at: Date): Promise<FieldErrors> {
  const { content, sampleData } = record;
  const result = await checkSource({ workspaceId, content, sampleData, now: at });
  if (result.ok) return {};
  if (result.busy) throw busy();
  return worded(result.faults, ({ part, isOfSource, message }) => {
    if (part === 'data') return ['sampleData', message];
    return ['content', isOfSource ? message : `with sampleData ${message}`];
  });
}

export async function find({ workspaceId }: Caller, id: string): Promise<SmsTemplate> {
  const record = await db.findSmsTemplate(workspaceId, id);
  if (!record) throw problem('not_found');
  return toWire(record);
}

export async function list(
  { workspaceId }: Caller,
  { limit, cursor }: SmsTemplateQuery,
): Promise<{ data: SmsTemplate[]; nextCursor: string | null }> {
  const binding = { workspaceId, listing: 'sms-templates' };
  const beforeId = cursor ? decodeCursor<{ id: string }>(binding, cursor).id : null;
  const found = await db.listSmsTemplateLengths(workspaceId, { limit: limit + 1, beforeId });
  const { ids, isLast } = pageOfLong(found, limit);
  return {
    data: (await db.listSmsTemplatesByIds(workspaceId, ids)).map(toWire),
    nextCursor: isLast ? null : encodeCursor(binding, { id: ids.at(-1)! }),
  };
}

export async function remove({ workspaceId }: Caller, id: string): Promise<void> {
  if (!(await db.deleteSmsTemplate(workspaceId, id))) throw problem('not_found');
}

/** As a message with this data would be; nothing is sent. */
export async function render(
  { workspaceId }: Caller,
  id: string,
  { data }: SmsTemplateRendering,
): Promise<RenderedSmsTemplate> {
  const record = await db.findSmsTemplate(workspaceId, id);
  if (!record) throw problem('not_found');
  const rendered = await renderSms({
    workspaceId,
    content: record.content,
    data: data ?? record.sampleData ?? {},
    now: now(),
  });
  if (rendered.ok)
    return { content: rendered.text, parts: rendered.parts.length, encoding: rendered.encoding };
  if (rendered.busy) throw busy();
  throw refusal(rendered.faults, ({ part, message }) => [
    'data',
    part === 'data' ? message : `does not fit the template: its content ${message}`,
  ]);
}

function toWire(record: db.SmsTemplateRecord): SmsTemplate {
  return {
    id: record.id,
    name: record.name,
    description: record.description,
    content: record.content,
    sampleData: record.sampleData,
    createdAt: record.createdAt.toISOString(),
    updatedAt: record.updatedAt.toISOString(),
  };
}
