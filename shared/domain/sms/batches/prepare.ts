import { now } from '../../../common/clock.ts';
import { problem } from '../../../common/errors.ts';
import {
  checked,
  faultsIn,
  isPartlyUnusable,
  isUnusable,
  type Refuse,
  type Usable,
} from '../../../common/faults.ts';
import type { BatchLists } from '../../../db/sms/batches/batches.ts';
import type { BatchRow } from '../../../db/sms/batches/rows.ts';
import { isLiquid } from '../../../formats/templates/liquid-tokens.ts';
import type { Caller } from '../../../schemas/scopes.ts';
import type { NewSmsBatch } from '../../../schemas/sms/batches.ts';
import * as contactLists from '../../contact-lists/contact-lists.ts';
import { checkSchedule } from '../../email/rules.ts';
import { checkSender } from '../../senders/senders.ts';
import { busy } from '../../template-faults.ts';
import { findByName } from '../../templates.ts';
import * as waiting from '../../work/waiting.ts';
import { refuseBlocked } from '../../workspace/workspaces.ts';
import { checkSource, inParts } from '../content.ts';
import { checkRows, type RowError, sizeOfShared } from './rows.ts';

/** A request for a batch that may be stored: its rows, and those that were not taken. */
export type CheckedBatch = {
  content: string | null;
  rows: BatchRow[];
  /** Bytes of the rows, and of the content and data that all rows share. */
  storedBytes: number;
  /** Keys of the senders that the rows name, or that the request names for them. */
  senders: string[];
  errors: RowError[];
  lists: BatchLists | null;
};

/** Checks a new batch, as far as that needs no transaction. Every fault of the request is reported at once. */
export async function prepare(caller: Caller, request: NewSmsBatch): Promise<CheckedBatch> {
  const { workspaceId } = caller;
  if (request.listIds && !caller.scopes.has('lists.read'))
    throw problem('forbidden', { detail: 'The field listIds needs the scope lists.read' });
  await refuseBlocked(workspaceId);

  const at = now();
  const content = await checked((refuse) => check(workspaceId, request, at, refuse));
  const lists = listsOf(request);
  const { rows, senders, errors, ...ofRows } = request.messages
    ? await checkRows(workspaceId, request, content, at)
    : { rows: [], storedBytes: 0, senders: [], errors: [] };
  const storedBytes = ofRows.storedBytes + sizeOfShared({ content, data: dataOf(request) });
  // The members of lists become rows only when the batch begins, so only the number that is known now counts.
  const members = lists ? await sizeOfAll(workspaceId, lists) : 0;
  await waiting.check(workspaceId, { messages: rows.length + members, bytes: storedBytes });
  return { content, lists, rows, storedBytes, senders, errors };
}

/** The values that Liquid merges into each message. */
export function dataOf({ template, data }: Pick<NewSmsBatch, 'template' | 'data'>): Record<string, unknown> {
  return template?.data ?? data ?? {};
}

/**
 * Returns the faults for which `prepare` would refuse a request. Skips fields of the wrong shape. Rows are not checked:
 * the answer to the request itself reports rows that cannot be sent.
 */
export const faultsOf = ({ workspaceId }: Caller, request: Usable<NewSmsBatch>) =>
  faultsIn((refuse) => check(workspaceId, request, now(), refuse));

/** Applies all rules but those on rows. Returns the content for messages that have none of their own. */
async function check(
  workspaceId: string,
  request: Usable<NewSmsBatch>,
  at: Date,
  refuse: Refuse,
): Promise<string | null> {
  checkChoice(request, refuse);
  checkSchedule(request.scheduledAt ?? null, at, refuse);
  const content = await contentOf(workspaceId, request, at, refuse);
  if (request.listIds == null) return content;
  for (const field of ['listIds', 'excludeLists'] as const)
    await contactLists.checkKnown(workspaceId, field, request[field] ?? [], refuse);
  if (isUnusable(request, 'sender')) return content;
  const message = await checkSender(workspaceId, request.sender ?? null);
  if (message !== null) refuse('sender', message);
  return content;
}

function listsOf({ listIds, excludeLists }: NewSmsBatch): BatchLists | null {
  return listIds ? { listIds: [...new Set(listIds)], excludeLists: [...new Set(excludeLists ?? [])] } : null;
}

function checkChoice(request: Usable<NewSmsBatch>, refuse: Refuse): void {
  const { messages, listIds, excludeLists, content, template } = request;
  checkContent(request, refuse);
  const areKnown = (...fields: (keyof NewSmsBatch)[]) =>
    fields.every((field) => !isPartlyUnusable(request, field));
  if ((messages == null) === (listIds == null) && areKnown('messages', 'listIds'))
    refuse(
      'messages',
      messages == null ? 'is missing: give messages or listIds' : 'cannot be combined with listIds',
    );
  if (excludeLists?.length && listIds == null && areKnown('listIds'))
    refuse('excludeLists', 'is allowed only with listIds');
  if (content != null || template != null || !areKnown('content', 'template', 'messages')) return;
  const isNeeded = messages == null || messages.some((message) => message?.content == null);
  if (isNeeded)
    refuse(
      'content',
      messages == null
        ? 'is missing: give content or template'
        : 'is missing: give content, template, or content in each message',
    );
}

/** Refuses content or data beside a template. */
export function checkContent(
  request: Usable<Pick<NewSmsBatch, 'content' | 'template' | 'data'>>,
  refuse: Refuse,
): void {
  const { content, template, data } = request;
  if (template == null || isPartlyUnusable(request, 'template')) return;
  if (content != null) refuse('content', 'cannot be combined with template');
  if (data != null) refuse('data', 'cannot be combined with template; use template.data instead');
}

/**
 * Returns the source for messages that have none of their own. A fault that the source has with any data is reported at
 * once.
 */
export async function contentOf(
  workspaceId: string,
  {
    content,
    template,
    unicode,
    shortenLinks,
  }: Usable<Pick<NewSmsBatch, 'content' | 'template' | 'unicode' | 'shortenLinks'>>,
  at: Date,
  refuse: Refuse,
): Promise<string | null> {
  if (content == null && template == null) return null;
  if (template && template.name === undefined) return null;
  const stored = template ? await findByName(workspaceId, template.name!) : null;
  if (template && !stored) {
    refuse('template.name', 'is not the name of a template of this workspace');
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
  const fitted = inParts(source, { unicode: unicode ?? undefined, shortenLinks: shortenLinks === true });
  if (!fitted.ok) refuse(field, fitted.message);
  return source;
}

async function sizeOfAll(workspaceId: string, { listIds }: BatchLists): Promise<number> {
  const found = await contactLists.findLists(workspaceId, listIds);
  const sizes = await Promise.all(found.map((list) => contactLists.sizeOf(workspaceId, list)));
  return sizes.reduce((sum, size) => sum + size, 0);
}
