import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../clock.ts';
import { config } from '../../config.ts';
import { isDuplicateKey } from '../../db/client.ts';
import * as copies from '../../db/contact-list-copies.ts';
import { insertMembers } from '../../db/contact-list-members.ts';
import * as db from '../../db/contact-lists.ts';
import { problem } from '../../errors.ts';
import { isId, newUuid } from '../../formats/ids.ts';
import { copyContacts } from '../../jobs/copy-contacts.ts';
import { enqueue } from '../../queue.ts';
import { requestId } from '../../request-context.ts';
import type { ContactListAddition, ContactListAddOutcome } from '../../schemas/contact-lists.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { checkStatic, findList, findLists } from './record.ts';

type Added = { outcome: ContactListAddOutcome; copyId: null } | { outcome: null; copyId: string };

/** Adds the contacts that are named; a copy of other lists' members is only begun, and goes on as a job. */
export async function add({ workspaceId }: Caller, id: string, request: ContactListAddition): Promise<Added> {
  checkChoice(request);
  checkStatic(await findList(workspaceId, id));
  return request.contactIds
    ? { outcome: await addNamed(workspaceId, id, request.contactIds), copyId: null }
    : { outcome: null, copyId: await beginCopy(workspaceId, id, request) };
}

function checkChoice(request: ContactListAddition): void {
  const { contactIds, fromLists } = request;
  if (fromLists && !contactIds) return;
  if (!contactIds) {
    const message = 'give contactIds or fromLists';
    throw problem('validation_failed', {
      detail: 'One of contactIds and fromLists is required',
      errors: { contactIds: [message], fromLists: [message] },
    });
  }
  const beside = (['fromLists', 'excludeLists', 'search', 'tag', 'clientReference'] as const).filter(
    (name) => request[name] != null,
  );
  if (beside.length === 0) return;
  throw problem('validation_failed', {
    detail: `contactIds cannot be combined with ${beside.join(', ')}`,
    errors: Object.fromEntries(beside.map((name) => [name, ['cannot be combined with contactIds']])),
  });
}

async function addNamed(
  workspaceId: string,
  listId: string,
  contactIds: string[],
): Promise<ContactListAddOutcome> {
  const ids = [...new Set(contactIds)].filter((contactId) => isId('contact', contactId));
  const { added } = await insertMembers(workspaceId, listId, ids);
  if (added > 0 && !(await db.updateMemberCount(workspaceId, listId, added))) throw problem('not_found');
  return { added, skipped: contactIds.length - added };
}

async function beginCopy(workspaceId: string, listId: string, request: ContactListAddition): Promise<string> {
  const createdAt = now();
  const { search, tag, clientReference } = request;
  const copy: copies.NewCopy = {
    id: newUuid(createdAt).toString('hex'),
    listId,
    request: {
      sources: await known(workspaceId, request.fromLists!),
      excluded: await known(workspaceId, request.excludeLists ?? []),
      filter: { search, tag, clientReference },
    },
    requestId: requestId(),
    createdAt,
  };
  try {
    await copies.insertCopy(workspaceId, copy);
  } catch (error) {
    throw isDuplicateKey(error) ? problem('list_copy_in_progress') : error;
  }
  // It may have been deleted since it was looked at; from now on its deletion ends the copy.
  if (!(await db.findContactListForUpdate(workspaceId, listId))) throw problem('not_found');
  enqueue(copyContacts, { copyId: copy.id }, { lane: 'default', id: `${copy.id}-1` });
  return copy.id;
}

async function known(workspaceId: string, ids: string[]): Promise<string[]> {
  const lists = await findLists(
    workspaceId,
    [...new Set(ids)].filter((id) => isId('list', id)),
  );
  return lists.map(({ id }) => id);
}

const firstPauseMs = 20;
const longestPauseMs = 500;

/** How the copy stands when it is over, or when it has been waited for long enough. */
export async function waitForCopy({ workspaceId }: Caller, copyId: string): Promise<copies.CopyProgress> {
  const end = performance.now() + config.LIST_COPY_WAIT_SECONDS * 1000;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(1.5 * pauseMs, longestPauseMs)) {
    const progress = await copies.findCopyProgress(workspaceId, copyId);
    if (!progress) throw problem('not_found', { detail: 'The copy is no longer known' });
    const leftMs = end - performance.now();
    if (!progress.isRunning || leftMs <= 0) return progress;
    await sleep(Math.min(pauseMs, leftMs));
  }
}
