import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../../common/clock.ts';
import { orNotFound, problem } from '../../common/errors.ts';
import {
  checked,
  faultsIn,
  isPartlyUnusable,
  isUnusable,
  type Refuse,
  type Usable,
} from '../../common/faults.ts';
import { requestId } from '../../common/request-context.ts';
import { config } from '../../config/config.ts';
import * as db from '../../db/contact-lists/contact-lists.ts';
import * as copies from '../../db/contact-lists/copies.ts';
import { insertMembers } from '../../db/contact-lists/members.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { isId, newUuid } from '../../formats/ids.ts';
import type { ContactListAddition, ContactListAddOutcome } from '../../schemas/contact-lists.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { orTaken } from '../requests/refusals.ts';
import { admit } from './copy-admission.ts';
import { checkStatic, findList, findLists } from './record.ts';

/** Adds contacts to a static list: named ones at once, and the members of other lists by a copy. */

type Added = { outcome: ContactListAddOutcome; copyId: null } | { outcome: null; copyId: string };

/** Adds the named contacts. A copy of other lists' members is only started here, and continues as a job. */
export async function add(caller: Caller, id: string, request: ContactListAddition): Promise<Added> {
  const { workspaceId } = caller;
  await checked((refuse) => check(workspaceId, request, refuse));
  checkStatic(await findList(workspaceId, id));
  return request.contactIds
    ? { outcome: await addNamed(workspaceId, id, request.contactIds), copyId: null }
    : { outcome: null, copyId: await beginCopy(workspaceId, id, request) };
}

/** The faults for which `add` would refuse a request, as far as the fields can be used. */
export const faultsOfAddition = ({ workspaceId }: Caller, request: Usable<ContactListAddition>) =>
  faultsIn((refuse) => check(workspaceId, request, refuse));

async function check(
  workspaceId: string,
  request: Usable<ContactListAddition>,
  refuse: Refuse,
): Promise<void> {
  checkChoice(request, refuse);
  // A mistyped exclusion must not add people (API decisions §4).
  for (const field of ['fromLists', 'excludeLists'] as const)
    await checkKnown(workspaceId, field, request[field] ?? [], refuse);
}

const besideFromLists = ['fromLists', 'excludeLists', 'search', 'tag', 'clientReference'] as const;

function checkChoice(request: Usable<ContactListAddition>, refuse: Refuse): void {
  const { contactIds, fromLists } = request;
  if (contactIds) {
    for (const name of besideFromLists)
      if (request[name] != null && !isPartlyUnusable(request, 'contactIds'))
        refuse(name, 'cannot be combined with contactIds');
  } else if (!fromLists && !isUnusable(request, 'contactIds') && !isUnusable(request, 'fromLists'))
    for (const name of ['contactIds', 'fromLists']) refuse(name, 'is missing: give contactIds or fromLists');
}

/** Refuses each id of a list that this workspace does not have, at its index. */
export async function checkKnown(
  workspaceId: string,
  field: string,
  ids: readonly (string | undefined)[],
  refuse: Refuse,
): Promise<void> {
  const wellFormed = [...new Set(ids)].filter((id) => id !== undefined && isId('list', id));
  const found = await findLists(workspaceId, wellFormed);
  const known = new Set(found.map(({ id }) => id));
  for (const [index, id] of ids.entries())
    if (id !== undefined && !known.has(id))
      refuse(`${field}[${index}]`, 'is not the id of a list of this workspace');
}

async function addNamed(
  workspaceId: string,
  listId: string,
  contactIds: string[],
): Promise<ContactListAddOutcome> {
  const ids = [...new Set(contactIds)].filter((contactId) => isId('contact', contactId));
  const { added } = await insertMembers(workspaceId, listId, ids, now());
  if (added > 0 && !(await db.updateMemberCount(workspaceId, listId, added))) throw problem('not_found');
  return { added, skipped: contactIds.length - added };
}

async function beginCopy(workspaceId: string, listId: string, request: ContactListAddition): Promise<string> {
  if (request.excludeLists) await keepLeftOut(workspaceId, request.excludeLists);
  const createdAt = now();
  const { search, tag, clientReference } = request;
  const row = { id: newUuid(createdAt).toString('hex'), requestId: requestId() };
  const copy: copies.NewCopy = {
    ...row,
    listId,
    request: {
      sources: [...new Set(request.fromLists)],
      excluded: [...new Set(request.excludeLists ?? [])],
      filter: { search, tag, clientReference },
    },
    parked: !admit('default', { ...row, workspaceId, claims: 0, dueAt: createdAt }),
    createdAt,
  };
  await orTaken(copies.insertCopy(workspaceId, copy), 'list_copy_in_progress');
  // The list may have been deleted since it was checked. From now on its deletion ends the copy.
  if (!(await db.findContactListForUpdate(workspaceId, listId))) throw problem('not_found');
  return copy.id;
}

/**
 * Checks again, under a lock, that the excluded lists exist. From the commit on, the copy itself keeps them from being
 * deleted.
 */
async function keepLeftOut(workspaceId: string, excludeLists: string[]): Promise<void> {
  // A list is deleted with the workspace locked. The lists were checked before without the lock.
  await findWorkspaceForUpdate(workspaceId);
  await checked((refuse) => checkKnown(workspaceId, 'excludeLists', excludeLists, refuse));
}

const firstPauseMs = 20;
const longestPauseMs = 500;

/** Waits for a copy, but not longer than a request may, and returns its progress. */
export async function waitForCopy({ workspaceId }: Caller, copyId: string): Promise<copies.CopyProgress> {
  const end = performance.now() + config.LIST_COPY_WAIT_SECONDS * 1000;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(1.5 * pauseMs, longestPauseMs)) {
    const progress = orNotFound(
      await copies.findCopyProgress(workspaceId, copyId),
      'The copy no longer exists, because the list was deleted',
    );
    const leftMs = end - performance.now();
    if (!progress.isRunning || leftMs <= 0) return progress;
    await sleep(Math.min(pauseMs, leftMs));
  }
}
