import { now } from '../../clock.ts';
import type { BatchRow } from '../../db/sms-batch-rows.ts';
import type { BatchLists } from '../../db/sms-batches.ts';
import { type FieldErrors, invalidFields, problem } from '../../errors.ts';
import { isId } from '../../formats/ids.ts';
import { isLiquid } from '../../formats/liquid-tokens.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { NewSmsBatch } from '../../schemas/sms-batches.ts';
import * as contactLists from '../contact-lists.ts';
import { checkSchedule, type Refuse } from '../email/rules.ts';
import { checkSender } from '../senders.ts';
import { checkSource, inParts } from '../sms-content.ts';
import { findByName } from '../sms-templates.ts';
import { busy } from '../template-rules.ts';
import * as waiting from '../waiting.ts';
import * as workspaces from '../workspaces.ts';
import { checkRows, type RowError } from './rows.ts';

/** A request for a batch that may be stored: its rows, and those that were not taken. */
export type Checked = {
  content: string | null;
  rows: BatchRow[];
  errors: RowError[];
  lists: BatchLists | null;
};

/** Everything about a new batch that needs no transaction. Every fault of the request is reported at once. */
export async function prepare(caller: Caller, request: NewSmsBatch): Promise<Checked> {
  const { workspaceId } = caller;
  const errors: FieldErrors = {};
  const refuse: Refuse = (field, message) => {
    (errors[field] ??= []).push(message);
  };
  if (request.listIds && !caller.scopes.has('lists.read'))
    throw problem('forbidden', { detail: 'listIds needs the scope lists.read' });
  const workspace = await workspaces.findRecent(workspaceId);
  if (workspace?.sendingBlocked) throw problem('sending_blocked');

  const at = now();
  checkChoice(request, refuse);
  checkSchedule(request.scheduledAt ?? null, at, refuse);
  const content = await contentOf(workspaceId, request, at, refuse);
  const lists = request.listIds ? await listsOf(workspaceId, request, refuse) : null;
  if (Object.keys(errors).length > 0) throw invalidFields(errors);

  const checked = request.messages
    ? await checkRows(workspaceId, request, content, at)
    : { rows: [], errors: [] };
  // What lists have counts as far as it is known; their rows come when the batch begins.
  const members = lists ? await sizeOfAll(workspaceId, lists) : 0;
  await waiting.check(workspaceId, { messages: checked.rows.length + members, bytes: 0 });
  return { content, lists, ...checked };
}

function checkChoice(request: NewSmsBatch, refuse: Refuse): void {
  const { messages, listIds, excludeLists, content, template } = request;
  if ((messages == null) === (listIds == null))
    refuse('messages', messages == null ? 'give them, or listIds' : 'cannot be combined with listIds');
  if (excludeLists?.length && listIds == null) refuse('excludeLists', 'goes with listIds only');
  checkContent(request, refuse);
  const isNeeded = messages == null || messages.some((message) => message.content == null);
  if (content == null && template == null && isNeeded)
    refuse(
      'content',
      messages == null ? 'give it, or a template' : 'give it, or a template, or one to each message',
    );
}

/** The content, or a template, and the data that goes with it. */
export function checkContent(
  { content, template, data }: Pick<NewSmsBatch, 'content' | 'template' | 'data'>,
  refuse: Refuse,
): void {
  if (content != null && template != null) refuse('content', 'cannot be combined with template');
  if (data != null && template != null)
    refuse('data', 'cannot be combined with template: give template.data');
}

/** The source that messages have without one of their own. What is wrong with it whatever the data is said at once. */
export async function contentOf(
  workspaceId: string,
  {
    content,
    template,
    unicode,
    shortenLinks,
  }: Pick<NewSmsBatch, 'content' | 'template' | 'unicode' | 'shortenLinks'>,
  at: Date,
  refuse: Refuse,
): Promise<string | null> {
  if (content == null && template == null) return null;
  const stored = template ? await findByName(workspaceId, template.name) : null;
  if (template && !stored) {
    refuse('template.name', 'there is no template with this name');
    return null;
  }
  const field = stored ? 'template.name' : 'content';
  const source = stored ? stored.content : content!;
  if (isLiquid(source)) {
    const checked = await checkSource({ workspaceId, content: source, sampleData: null, now: at });
    if (checked.ok) return source;
    if (checked.busy) throw busy();
    for (const { message } of checked.faults) refuse(field, message);
    return null;
  }
  const fitted = inParts(source, {
    ...(unicode != null && { unicode }),
    shortenLinks: shortenLinks === true,
  });
  if (!fitted.ok) refuse(field, fitted.message);
  return source;
}

async function sizeOfAll(workspaceId: string, { listIds }: BatchLists): Promise<number> {
  const found = await contactLists.findLists(workspaceId, listIds);
  const sizes = await Promise.all(found.map((list) => contactLists.sizeOf(workspaceId, list)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function listsOf(
  workspaceId: string,
  request: NewSmsBatch,
  refuse: Refuse,
): Promise<BatchLists | null> {
  const { listIds, excludeLists } = request;
  const wanted = { listIds: listIds!, excludeLists: excludeLists ?? [] };
  for (const field of ['listIds', 'excludeLists'] as const) {
    const found = await contactLists.findLists(
      workspaceId,
      wanted[field].filter((id) => isId('list', id)),
    );
    const known = new Set(found.map(({ id }) => id));
    wanted[field].forEach((id, index) => {
      if (!known.has(id)) refuse(`${field}[${index}]`, 'there is no such list');
    });
  }
  const message = await checkSender(workspaceId, request.sender ?? null);
  if (message !== null) refuse('sender', message);
  return { listIds: [...new Set(wanted.listIds)], excludeLists: [...new Set(wanted.excludeLists)] };
}
