import { now } from '../common/clock.ts';
import type { FieldErrors } from '../common/errors.ts';
import { isUnusable, type Usable } from '../common/faults.ts';
import { type SmsTemplateRecord, smsTemplates } from '../db/templates.ts';
import type { Caller } from '../schemas/scopes.ts';
import {
  mostSmsTemplates,
  type NewSmsTemplate,
  type RenderedSmsTemplate,
  SmsTemplate,
  type SmsTemplateChanges,
  type SmsTemplateRendering,
} from '../schemas/templates.ts';
import { wireOf } from './requests/wire.ts';
import { checkSource, renderSms } from './sms/content.ts';
import { busy, refusal, worded } from './template-faults.ts';
import { versionedTemplates } from './versioned-templates.ts';

const kind = versionedTemplates<SmsTemplateRecord, NewSmsTemplate, SmsTemplateChanges, SmsTemplate>({
  rows: smsTemplates,
  idPrefix: 'template',
  listing: 'sms-templates',
  plural: 'SMS templates',
  most: mostSmsTemplates,
  sourceOf: ({ content }) => ({ content }),
  sourceFields: ['content'],
  datedFields: ['name', 'description', 'content', 'sampleData'],
  faultsOf,
  toWire: (record) => wireOf(SmsTemplate, record),
});

export const { prepareNew, create, prepareChange, change, find, list, remove } = kind;

/** Finds a template for sending. */
export const findByName = smsTemplates.findByName;

type CheckedSmsSource = Pick<SmsTemplateRecord, 'content' | 'sampleData'>;

/** Returns the faults for which `prepareNew` would refuse a request. Skips fields of the wrong shape. */
export async function faultsOfNew(caller: Caller, request: Usable<NewSmsTemplate>): Promise<FieldErrors> {
  const { content, sampleData } = request;
  return content === undefined ? {} : faultsOf(caller, { content, sampleData: sampleData ?? null }, now());
}

/** Returns the faults for which `prepareChange` would refuse a request. Skips fields of the wrong shape. */
export async function faultsOfChange(
  caller: Caller,
  id: string,
  changes: Usable<SmsTemplateChanges>,
): Promise<FieldErrors> {
  const before = await smsTemplates.find(caller.workspaceId, id);
  if (!before || isUnusable(changes, 'content')) return {};
  const { record, isSource } = kind.changed(before, changes);
  const sampleData = isUnusable(changes, 'sampleData') ? null : record.sampleData;
  return isSource ? faultsOf(caller, { ...record, sampleData }, now()) : {};
}

async function faultsOf({ workspaceId }: Caller, record: CheckedSmsSource, at: Date): Promise<FieldErrors> {
  const { content, sampleData } = record;
  const result = await checkSource({ workspaceId, content, sampleData, now: at });
  if (result.ok) return {};
  if (result.busy) throw busy();
  return worded(result.faults, ({ part, isOfSource, message }) => {
    if (part === 'data') return ['sampleData', message];
    return ['content', isOfSource ? message : `with sampleData ${message}`];
  });
}

/** Renders the template as a message with this data; nothing is sent. */
export async function render(
  caller: Caller,
  id: string,
  { data }: SmsTemplateRendering,
): Promise<RenderedSmsTemplate> {
  const record = await kind.findRecord(caller, id);
  const rendered = await renderSms({
    workspaceId: caller.workspaceId,
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
